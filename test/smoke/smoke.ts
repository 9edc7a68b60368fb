/** Holds a real deployment to what no emulator shows. Makes keys of its own and deletes them; ends with 1 when a check fails. */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { checks } from './checks.ts'
import { type Client, createClient, readKey } from './client.ts'

const USAGE = `usage: npm run smoke -- --url URL --key-file FILE [--ca FILE]
  --url URL         the API, as deploy prints it
  --key-file FILE   an access key of group system:masters
  --ca FILE         PEM of the authority of the URL, where it is not a public one
`

async function connect(): Promise<Client | undefined> {
  const text = { type: 'string' } as const
  const { url, ca, 'key-file': keyFile } = parseArgs({ options: { url: text, ca: text, 'key-file': text } }).values
  if (url === undefined || keyFile === undefined) return undefined
  const place = { url: url.replace(/\/+$/, ''), key: await readKey(keyFile) }
  return createClient(ca === undefined ? place : { ...place, ca: await readFile(ca, 'utf8') })
}

async function run(): Promise<number> {
  const client = await connect().catch((error: Error) => void process.stderr.write(`${error.message}\n`))
  if (client === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  let failed = 0
  for (const check of checks) {
    const problem = await check.run(client).then(
      () => undefined,
      (error: Error) => error.message,
    )
    process.stdout.write(problem === undefined ? `ok      ${check.name}\n` : `failed  ${check.name}\n${problem}\n`)
    if (problem !== undefined) failed++
  }
  process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await run()
