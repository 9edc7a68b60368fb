import { patchHandler } from '../../lib/server/namespaces/write.ts'

export const handler = await patchHandler()
