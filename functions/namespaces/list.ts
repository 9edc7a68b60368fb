import { Namespace } from '../../lib/apis/core/v1/namespace.ts'
import { emptyListHandler } from '../../lib/server/emptylist.ts'

export const handler = emptyListHandler(Namespace)
