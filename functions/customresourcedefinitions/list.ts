import { CustomResourceDefinition } from '../../lib/server/documents/customresourcedefinition.ts'
import { emptyListHandler } from '../../lib/server/emptylist.ts'

export const handler = emptyListHandler(CustomResourceDefinition)
