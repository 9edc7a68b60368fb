import { updateHandler } from '../../lib/server/namespaces/write.ts'

export const handler = await updateHandler()
