/** Tests of the rules of examples/events on a deployment of the emulator: real events reach the targets. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { servicesOf } from '../smoke/checks/services.ts'
import { readExample } from '../support/examples.ts'
import { at, client, file, makeKey, shell, stage } from './place.ts'

/** The commands write files. */
const inFolder = (...commands: string[]) => shell(`cd ${file('.')}`, ...commands)

/** Defines the tests. */
export function describeEvents(): void {
  describe('events', () => {
    test('a queue receives the events of keys', async () => {
      await inFolder(await readExample('events/queue.sh'))
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
    })

    test.each([true, false])(
      'npm run smoke with --stage checks the services that the emulator has: %s',
      async (emulated) => {
        const aws = (...args: readonly string[]) => inFolder(`aws ${args.join(' ')}`)
        for (const check of servicesOf(stage, aws, emulated ? undefined : 1000).filter(
          (one) => one.emulated === emulated,
        )) {
          const run = check.run(client)
          // The emulator does not limit the concurrency of functions.
          if (emulated) await run
          else await expect(run).rejects.toThrow('a 201, not a 503, for 1000 ms')
        }
      },
      120_000,
    )

    test('mail and a chat can be told of events', async () => {
      const said = await inFolder(
        await readExample('events/mail.sh'),
        await readExample('events/chat.sh'),
        'aws events list-targets-by-rule --rule keyplane-$STAGE-mail',
        'aws events list-targets-by-rule --rule keyplane-$STAGE-chat',
      )
      expect(said).toContain(':sns:')
      expect(said).toContain(':api-destination/')
    })
  })
}
