/** Checks a real deployment for behavior that no emulator has. */
import { readFile } from 'node:fs/promises'
import { type Command, runCommand, UsageError } from '../../infra/command.ts'
import { throttling } from './checks/answers.ts'
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
      help: 'an access key of group system:masters; /dev/stdin for one that is piped in',
    },
    ca: { type: 'string', value: 'FILE', help: 'PEM of the authority of the URL, where it is not a public one' },
    throttle: { type: 'boolean', help: 'also send requests until one is throttled; others are throttled meanwhile' },
  },
} as const satisfies Command

await runCommand(COMMAND, async ({ url, 'key-file': keyFile, ca, throttle }) => {
  const key = await readKey(keyFile)
  if (key === '') throw new UsageError(`there is no key in ${keyFile}`)
  const place = { url: url.replace(/\/+$/, ''), key }
  const client = createClient(ca === undefined ? place : { ...place, ca: await readFile(ca, 'utf8') })
  const asked = throttle ? [...checks, throttling] : checks
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
