/** Writes the files with which curl is a credential plugin, as docs/clients.md describes them. */
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { curlOptions, quoted } from '../../../core/src/curl.ts'
import type { ExecApi } from '../../../core/src/plugin.ts'
import { replaceFile } from '../config/outputfile.ts'
import type { Entry } from './entries.ts'

export interface CurlRequest {
  url: string
  body: object
  key: string
  certificateAuthority: string | undefined
  execApi: ExecApi | undefined
}

/**
 * Returns the path of the file for an entry, beside its kube config. An entry of the same name for another server, or in another
 * kube config of the folder, has another file: it may have another key.
 */
export function curlFile(kubeConfig: string, { name, mark }: Pick<Entry, 'name' | 'mark'>): string {
  const whose = [basename(kubeConfig), mark.server, mark.target].join('\n')
  const hash = createHash('sha256').update(whose).digest('hex').slice(0, 8)
  return join(dirname(kubeConfig), `${name.replace(/@.*/, '')}.${hash}.curl`)
}

/** Writes the file, and beside it the certificate authority of the server if it has one of its own. Only this user can read it. */
export async function writeCurlFile(file: string, request: CurlRequest): Promise<void> {
  const { url, body, key, certificateAuthority, execApi } = request
  const authority = `${file}.ca.crt`
  if (certificateAuthority !== undefined) await replaceFile(authority, certificateAuthority)
  const lines = [
    `header = ${quoted(`Authorization: Bearer ${key}`)}`,
    ...curlOptions(url, body, execApi),
    ...(certificateAuthority === undefined ? [] : [`cacert = ${quoted(slashes(authority))}`]),
  ]
  await replaceFile(file, `${lines.join('\n')}\n`)
}

/** Windows takes slashes as well, and curl reads backslashes in quotes as escapes. */
export const slashes = (path: string): string => (process.platform === 'win32' ? path.replaceAll('\\', '/') : path)
