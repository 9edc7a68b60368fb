import { listHandler } from '../../lib/server/namespaces/list.ts'

export const handler = await listHandler()
