/** The API group of everything in this folder. */
import { MANAGEMENT_GROUP } from '../../../authorization/attributes/attributes.ts'

export const group = MANAGEMENT_GROUP
export const version = 'v1'
