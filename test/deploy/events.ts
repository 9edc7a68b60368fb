/** Tests of the rules of docs/events.md on a deployment of the emulator: real events reach the targets. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readPage } from '../support/commands.ts'
import { at, file, makeKey, shell } from './place.ts'

const { commandsOf } = await readPage('docs/events.md')

/** The commands write files. */
const inFolder = (...commands: string[]) => shell(`cd ${file('.')}`, ...commands)

/** Defines the tests. */
export function describeEvents(): void {
  describe('events', () => {
    test('a queue receives the events of keys', async () => {
      await inFolder(commandsOf('A queue', 0))
      await makeKey('told')
      const receive = `aws sqs receive-message --queue-url $(aws sqs get-queue-url --queue-name keyplane-$STAGE-events --query QueueUrl --output text) \
    --max-number-of-messages 10 --query 'Messages[].Body' --output json`
      const found: { type: string; data: { name: string; actor?: object } }[] = []
      while (!found.some(({ data }) => data.name === 'told')) {
        const bodies = JSON.parse((await inFolder(receive)) || 'null') as string[] | null
        found.push(...(bodies ?? []).map((body) => JSON.parse(body)))
        await delay(500)
      }
      expect(found.find(({ data }) => data.name === 'told')).toMatchObject({
        specversion: '1.0',
        type: 'platform.management.accesskey.created.v1',
        // A later test gives it a domain.
        source: at.said.url,
        data: { phase: 'Active', scoped: false, actor: { user: 'admin' } },
      })
    }, 120_000)

    test('mail and a chat can be told of events', async () => {
      const said = await inFolder(
        commandsOf('Mail', 0),
        commandsOf('A chat', 0),
        'aws events list-targets-by-rule --rule keyplane-$STAGE-mail',
        'aws events list-targets-by-rule --rule keyplane-$STAGE-chat',
      )
      expect(said).toContain(':sns:')
      expect(said).toContain(':api-destination/')
    }, 120_000)
  })
}
