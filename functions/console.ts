import { files } from 'keyplane:console'
import { consoleHandler } from '../lib/server/console/answer.ts'

export const handler = consoleHandler(files, async () => (await import('keyplane:documentation')).files)
