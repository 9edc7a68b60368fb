import { patchHandler } from '../../lib/server/namespaces/patch.ts'

export const handler = await patchHandler()
