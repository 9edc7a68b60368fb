/** Lists the commands, in the order of the help. */
import type { Command } from '../arguments/command.ts'
import { whoami } from './whoami.ts'

export const commands: readonly Command[] = [whoami]
