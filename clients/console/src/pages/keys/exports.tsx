import { saveFile } from '../../components/savefile.ts'
import type { Row } from '../../keylist/selection.ts'
import { csvOf, jsonOf } from './exported.ts'

/** Saves all shown keys as a file, also those that are not drawn yet. */
export function Exports({ shown }: { shown: readonly Row[] }) {
  const keys = () => shown.map(({ key }) => key)
  const nameOf = (ending: string) => `keys-${new Date().toISOString().slice(0, 10)}.${ending}`
  return (
    <>
      <button type="button" class="quiet" onClick={() => saveFile(nameOf('csv'), 'text/csv', csvOf(keys()))}>
        Export as CSV
      </button>
      <button type="button" class="quiet" onClick={() => saveFile(nameOf('json'), 'application/json', jsonOf(keys()))}>
        Export as JSON
      </button>
    </>
  )
}
