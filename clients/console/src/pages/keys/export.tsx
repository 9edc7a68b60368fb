import type { AccessKey } from '../../../../core/src/objects.ts'
import { saveFile } from '../../components/savefile.ts'
import { csvOf } from './exported.ts'

/** Saves all shown keys as a file, also those that are not drawn yet. */
export const Export = ({ shown }: { shown: readonly AccessKey[] }) => (
  <button
    type="button"
    class="quiet"
    onClick={() => {
      const name = `keys-${new Date().toISOString().slice(0, 10)}.csv`
      saveFile(name, 'text/csv', csvOf(shown))
    }}
  >
    Export as CSV
  </button>
)
