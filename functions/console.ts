import { files } from 'keyplane:console'
import { consoleHandler } from '../lib/server/console/answer.ts'

export const handler = consoleHandler(files, {
  documentation: async () => (await import('keyplane:documentation')).files,
  packages: async () => (await import('keyplane:commandline')).files,
})
