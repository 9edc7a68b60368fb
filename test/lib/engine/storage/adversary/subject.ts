/** Loads copies of lib/engine/storage with small edits: other constants, or without a rule. */
import { join } from 'node:path'
import { type Edit, loadEdited as load } from '../../../../support/editedmodules.ts'
import type { Subject } from './schedule.ts'

/** Makes rare events frequent: settling, several log partitions, watches that are behind, full pages. */
export const hurried: readonly Edit[] = [
  { file: 'protocol/constants.ts', from: 'settleEvery = 16', to: 'settleEvery = 3' },
  { file: 'protocol/constants.ts', from: 'settleBehind = 64', to: 'settleBehind = 3' },
  { file: 'protocol/constants.ts', from: 'settleAhead = 100', to: 'settleAhead = 12' },
  { file: 'protocol/constants.ts', from: 'pollSlots = 512', to: 'pollSlots = 6' },
  { file: 'protocol/constants.ts', from: 'scanTime = 30_000', to: 'scanTime = 1_500' },
  { file: 'protocol/constants.ts', from: 'clearAfter = 45_000', to: 'clearAfter = 2_000' },
  { file: 'keys.ts', from: 'bucketSize = 64', to: 'bucketSize = 8' },
  { file: 'protocol/constants.ts', from: 'pageBytes = 8 * 1024 * 1024', to: 'pageBytes = 400' },
]

const storage = join(import.meta.dirname, '../../../../../lib/engine/storage')

/** Loads an edited copy of lib/engine/storage. Throws unless every edit applies exactly once. */
export const loadEdited = (edits: readonly Edit[]): Promise<Subject> =>
  load(storage, "export { storageOver } from './protocol/storage.ts'\nexport { ItemsFault } from './items.ts'", edits)
