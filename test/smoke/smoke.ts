/** Checks a real deployment for behavior that no emulator has. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type Command, runCommand, UsageError } from '../../infra/command.ts'
import { throttling } from './checks/answers.ts'
import { type Aws, servicesOf } from './checks/services.ts'
import { checks } from './checks.ts'
import { createClient, readKey } from './client.ts'

const COMMAND = {
  call: 'npm run smoke',
  about: `Asks a deployment for what depends on API Gateway itself: answers of the authorizer, headers, paths, queries, streams
and binary bodies, and says what it found instead. Takes about a minute. Makes keys of its own and deletes them; ends
with 1 when a check fails.`,
  options: {
    url: { type: 'string', value: 'URL', required: true, help: 'the API, as deploy prints it' },
    'key-file': {
      type: 'string',
      value: 'FILE',
      required: true,
      help: 'an access key of group system:masters; - reads standard input',
    },
    ca: { type: 'string', value: 'FILE', help: 'PEM of the authority of the URL, where it is not a public one' },
    stage: {
      type: 'string',
      value: 'STAGE',
      help: 'also use the AWS command line: read the queue of examples/events, stop a function for a moment',
    },
    throttle: { type: 'boolean', help: 'also send requests until one is throttled; others are throttled meanwhile' },
  },
} as const satisfies Command

const aws: Aws = async (...args) => (await promisify(execFile)('aws', args)).stdout

await runCommand(COMMAND, async ({ url, 'key-file': keyFile, ca, stage, throttle }) => {
  const key = await readKey(keyFile)
  if (key === '') throw new UsageError(`there is no key in ${keyFile}`)
  const place = { url: url.replace(/\/+$/, ''), key }
  const client = createClient(ca === undefined ? place : { ...place, ca: await readFile(ca, 'utf8') })
  const more = stage === undefined ? [] : servicesOf(stage, aws)
  const asked = [...checks, ...more, ...(throttle ? [throttling] : [])]
  let failed = 0
  for (const check of asked) {
    const problem = await check.run(client).then(
      () => undefined,
      (error: Error) => error.message || String(error),
    )
    process.stdout.write(problem === undefined ? `ok      ${check.name}\n` : `failed  ${check.name}\n${problem}\n`)
    if (problem !== undefined) failed++
  }
  process.stdout.write(`${asked.length - failed} passed, ${failed} failed\n`)
  if (failed > 0) process.exitCode = 1
})
