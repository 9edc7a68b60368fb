/** The npm package of the command line, which `npm install` takes from the address of the console, and its SHA-256 as sha256sum checks it. */
import { createHash } from 'node:crypto'
import { packCommandLine } from '../commandlinepackage.ts'

const { contents } = await packCommandLine()

export const files = [
  { name: 'keyplane.tgz', type: 'application/gzip', text: Buffer.from(contents).toString('base64'), isBase64: true },
  {
    name: 'keyplane.tgz.sha256',
    type: 'text/plain; charset=utf-8',
    text: `${createHash('sha256').update(contents).digest('hex')}  keyplane.tgz\n`,
  },
]
