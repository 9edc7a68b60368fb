/** Runs the rules of docs/events.md on a deployment of the emulator: real events reach the targets. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPage } from '../support/commands.ts'
import { type Deployed, startDeployed } from './deployed.ts'
import { installCommandLine } from './emulator.ts'

const stage = 'evt'
const { commandsOf } = await readPage('docs/deploying.md', 'docs/events.md')
const keys = '/apis/management.platform/v1/ownedaccesskeys'

let at: Deployed
let folder: string
/** The folder of the AWS command line. */
let bin: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-events-'))
  ;[bin, at] = await Promise.all([installCommandLine(join(folder, 'aws')), startDeployed(stage)])
}, 300_000)
afterAll(async () => {
  await at?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs commands in one shell, with the files that they write in the folder. */
function shell(...commands: string[]): Promise<string> {
  const begin = commandsOf('Preparing the shell', 0, { 'STAGE=prod': `STAGE=${stage}` })
  // This version of the command line ignores the endpoint in its environment for queues.
  const elsewhere = `aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }\n`
  return at.run('bash', ['-euo', 'pipefail', '-c', [elsewhere, begin, `cd ${folder}`, ...commands].join('\n')], {
    PATH: [bin, process.env.PATH].join(delimiter),
  })
}

async function makeKey(name: string): Promise<void> {
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { name }, spec: {} }
  const { status, text } = await at.client.call(keys, { method: 'POST', body, token: at.adminKey })
  expect([status, text]).toEqual([201, expect.any(String)])
}

test('a queue receives the events of keys', async () => {
  await shell(commandsOf('A queue', 0))
  await makeKey('told')
  const receive = `aws sqs receive-message --queue-url $(aws sqs get-queue-url --queue-name keyplane-$STAGE-events --query QueueUrl --output text) \
    --max-number-of-messages 10 --query 'Messages[].Body' --output json`
  const found: { type: string; data: { name: string; actor?: object } }[] = []
  while (!found.some(({ data }) => data.name === 'told')) {
    const bodies = JSON.parse((await shell(receive)) || 'null') as string[] | null
    found.push(...(bodies ?? []).map((body) => JSON.parse(body)))
    await delay(500)
  }
  expect(found.find(({ data }) => data.name === 'told')).toMatchObject({
    specversion: '1.0',
    type: 'platform.management.accesskey.created.v1',
    source: at.said.url,
    data: { phase: 'Active', scoped: false, actor: { user: 'admin' } },
  })
}, 120_000)

test('mail and a chat can be told of events', async () => {
  const said = await shell(
    commandsOf('Mail', 0),
    commandsOf('A chat', 0),
    'aws events list-targets-by-rule --rule keyplane-$STAGE-mail',
    'aws events list-targets-by-rule --rule keyplane-$STAGE-chat',
  )
  expect(said).toContain(':sns:')
  expect(said).toContain(':api-destination/')
}, 120_000)
