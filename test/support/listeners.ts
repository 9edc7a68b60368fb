/** Finds what other users of the machine can reach on 127.0.0.1: the ports of a process and its children. Linux only. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { request as plain } from 'node:http'
import { request as secure } from 'node:https'
import { region } from './aws.ts'

/** Returns the ports on which the process or its descendants listen. */
export async function listenersOf(pid: number): Promise<number[]> {
  const sockets = new Set<string>()
  for (const one of await familyOf(pid)) {
    for (const fd of await readdir(`/proc/${one}/fd`).catch(() => [])) {
      const link = await readlink(`/proc/${one}/fd/${fd}`).catch(() => '')
      const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? []
      if (inode !== undefined) sockets.add(inode)
    }
  }
  const tables = await Promise.all(['tcp', 'tcp6'].map((kind) => readFile(`/proc/net/${kind}`, 'utf8')))
  const listening = '0A'
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
      return state === listening && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
    }),
  )
}

async function familyOf(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = await Promise.all(
    all.map(async (one) => {
      const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '')
      return [one, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const
    }),
  )
  const childrenOf = (parent: number): number[] =>
    parents.filter(([, of]) => of === parent).flatMap(([one]) => [one, ...childrenOf(one)])
  return [pid, ...childrenOf(pid)]
}

/** Requests that succeed on unauthenticated services: `[path, X-Amz-Target, service, body]`. */
const requests = [
  ['/', 'secretsmanager.GetSecretValue', 'secretsmanager', { SecretId: 'keyplane/local/access-key' }],
  ['/', 'secretsmanager.CreateSecret', 'secretsmanager', {}],
  ['/', 'TrentService.CreateKey', 'kms', { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }],
  ['/', 'DynamoDB_20120810.ListTables', 'dynamodb', {}],
  ['/', 'DynamoDB_20120810.Scan', 'dynamodb', { TableName: 'keyplane-Table' }],
  ['/v3/kv/range', '', '', { key: 'AA==', range_end: 'AA==' }],
  ['/mcp', '', '', { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }],
  ['/api/v1/namespaces/default/secrets', '', '', {}],
] as const

/** Returns the requests that succeed on a port without a secret, over HTTP and TLS. */
export async function openTo(port: number): Promise<string[]> {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  const open: string[] = []
  for (const [path, target, service, body] of requests) {
    const headers = {
      'content-type': 'application/json',
      'x-amz-target': target,
      'x-amz-date': `${day}T000000Z`,
      authorization: `AWS4-HMAC-SHA256 Credential=local/${day}/${region}/${service}/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
    }
    for (const send of [plain, secure]) {
      const status = await new Promise<number>((resolve) => {
        const options = { host: '127.0.0.1', port, path, method: 'POST', headers, rejectUnauthorized: false }
        const asked = send(options, (answer) => resolve(answer.resume().statusCode ?? 0))
        asked.on('error', () => resolve(0)).end(JSON.stringify(body))
      })
      if (status >= 200 && status < 300) open.push(`${port}${path} ${target}`)
    }
  }
  return open
}
