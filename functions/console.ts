import { files } from 'keyplane:console'
import { consoleHandler } from '../lib/server/console/consolehandler.ts'

export const handler = consoleHandler(files)
