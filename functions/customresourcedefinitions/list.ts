import { CustomResourceDefinition } from '../../lib/apis/apiextensions/v1/customresourcedefinition.ts'
import { emptyListHandler } from '../../lib/server/emptylist.ts'

export const handler = emptyListHandler(CustomResourceDefinition)
