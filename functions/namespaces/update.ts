import { updateHandler } from '../../lib/server/namespaces/update.ts'

export const handler = await updateHandler()
