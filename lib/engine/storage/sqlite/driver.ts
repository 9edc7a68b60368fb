/** Opens a table of this process. */
import { provided } from '../../meta/provided.ts'
import type { ChangesIn, Driver } from '../driver.ts'

/** Returns the name under which a table is provided. */
export const tableNamed = (name: string): string => `table ${name}`

export const driver: Driver = { open: (name, means) => provided<Driver['open']>(tableNamed(name))(name, means) }

/** There is no stream: controllers read the change log. */
export const changesIn: ChangesIn = () => undefined
