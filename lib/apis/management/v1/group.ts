/** Names the API group and version of the kinds in this package. */
import { MANAGEMENT_GROUP } from '../../../authorization/attributes/attributes.ts'

export const group = MANAGEMENT_GROUP
export const version = 'v1'
