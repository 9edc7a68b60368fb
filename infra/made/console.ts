/** The files of the console. */
import { buildConsole } from '../../clients/console/build.ts'

export const files = await buildConsole()
