/** The pages of the documentation. */
import { join } from 'node:path'
import { buildDocumentation } from '../documentation/build.ts'

export const files = await buildDocumentation(join(import.meta.dirname, '../..'))
