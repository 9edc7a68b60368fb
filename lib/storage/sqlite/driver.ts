/** Opens a table of this process. */
import type { Driver } from '../driver.ts'
import { openNamed } from './named.ts'

export const driver: Driver = { open: openNamed }
