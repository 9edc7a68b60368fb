/** Makes curl a credential plugin, as docs/clients.md describes it: all but its first arguments are in a file, which no shell reads. */
import type { ExecApi } from './plugin.ts'
import { execType } from './requests.ts'

/** The life of a token that curl fetches, in seconds. */
export const CURL_SECONDS = 900

/** Returns the arguments of curl that read the file. */
export const curlArguments = (file: string): string[] => ['-q', '--proto', '=https', '--config', file]

/** Returns the lines of the file, without those for the access key and the certificate authority. */
export const curlOptions = (url: string, body: object, execApi?: ExecApi): string[] => [
  `url = ${quoted(url)}`,
  'header = "Content-Type: application/json"',
  `header = "Accept: ${execType(execApi)}"`,
  `data = ${quoted(JSON.stringify(body))}`,
  'silent',
  'show-error',
  'fail',
  'max-time = 30',
  'write-out = "%{onerror}%{stderr}%header{warning}\\n"',
]

/** Returns the text as a value of an option. */
export const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`
