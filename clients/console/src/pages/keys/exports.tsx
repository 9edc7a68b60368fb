import { saveFile } from '../../components/savefile.ts'
import type { Row } from '../../keylist/selection.ts'
import { useNotify } from '../../session/notices.ts'

/** Saves all shown keys as a file, also those that are not drawn yet. */
export function Exports({ shown }: { shown: readonly Row[] }) {
  const notify = useNotify()
  const save = async (form: 'csv' | 'json') => {
    try {
      const { csvOf, jsonOf } = await import('./exported.ts')
      const keys = shown.map(({ key }) => key)
      const name = `keys-${new Date().toISOString().slice(0, 10)}.${form}`
      if (form === 'csv') saveFile(name, 'text/csv', csvOf(keys))
      else saveFile(name, 'application/json', jsonOf(keys))
    } catch {
      notify({ tone: 'bad', text: 'The export could not be loaded. Try again.' })
    }
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => void save('csv')}>
        Export as CSV
      </button>
      <button type="button" class="quiet" onClick={() => void save('json')}>
        Export as JSON
      </button>
    </>
  )
}
