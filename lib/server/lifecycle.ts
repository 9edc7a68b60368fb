/** Makes the handler that publishes events about access keys. A run that publishes something or fails writes a log line. */
import type { Context } from 'aws-lambda'
import { openBus } from '#event-bus'
import { describeError } from '../engine/meta/errors/describe.ts'
import { kindOf } from '../keys/events/event.ts'
import type { Lifecycle } from '../keys/events/lifecycle.ts'
import { publish } from '../keys/events/publish.ts'
import { runLifecycle } from '../keys/events/run.ts'
import type { UnusedKeys } from '../keys/events/unused.ts'
import { markRecording } from '../keys/events/usage.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import { keysThrough } from './keysthrough.ts'
import { connectionOf, invokeLater } from './lambda/lambdaapi.ts'
import { lazy } from './process/lazy.ts'
import { createServer } from './server.ts'

/** Time reserved at the end of an invocation to finish a batch and to write the result. */
const reserveMs = 15_000

/** The value of the setting that turns events off. */
const NONE = 'none'

/**
 * Returns the handler. A schedule invokes it every minute, which guarantees that events are published. The stream of the
 * table also invokes it, so that they are published within seconds. The handler ignores the content of the stream's records. It returns what
 * was last found of keys that nobody uses, which a deployment prints.
 */
export function lifecycleHandler() {
  const server = createServer(process.env)
  const { config, log, sleep } = server
  const bus = lazy(() => openBus(config.eventBus))
  let isMarked = false
  let unused: UnusedKeys | undefined
  return async (
    _event: unknown,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<{ unused?: UnusedKeys }> => {
    let published = 0
    let rotationsReplaced = 0
    try {
      const hasTime = () => context.getRemainingTimeInMillis() > reserveMs
      const life: Lifecycle = {
        store: server.storeOf(OwnedAccessKey),
        storage: server.storage,
        limits: server.limits,
        maxIdleSeconds: config.maxIdleSeconds,
        isNew: !isMarked,
        recordSources: server.recordSources,
        now: server.now,
        hasTime,
        keysThrough: keysThrough(server.storage, hasTime),
        deadline: () => context.getRemainingTimeInMillis(),
        source: config.issuer,
        async publish(events) {
          rotationsReplaced += events.filter((event) => kindOf(event) === 'rotation-replaced').length
          if (config.eventBus === NONE) return
          const refused = await publish({ bus: bus(), sleep }, events)
          for (const { event, code } of refused) {
            const { id, type, subject } = event
            log('error', 'event refused', { id, type, subject, code }, [{ values: { eventsLost: 1 } }])
          }
          published += events.length - refused.length
        },
        async wake() {
          if (config.secretsFunction === undefined) return
          await invokeLater(config.secretsFunction, connectionOf(process.env)).catch((error: unknown) =>
            log('error', 'secrets not woken', { error: describeError(error) }),
          )
        },
        lost(since, to) {
          log('error', 'events lost', { since, to }, [{ values: { eventsLost: to - since } }])
        },
      }
      // A change of the setting starts new processes.
      if (!isMarked) await markRecording(life, server.recordUsage)
      const { settled, remaining, unused: found = unused } = await runLifecycle(life)
      isMarked = true
      if (found !== unused) log('info', 'unused keys', { ...found })
      unused = found
      const answer = unused ? { unused } : {}
      if (published === 0 && settled === 0 && rotationsReplaced === 0) return answer
      const counts = { published, settled, ...(remaining && { remaining }) }
      const values = { eventsPublished: published, eventsFailed: 0, rotationsReplaced }
      log('info', 'events', counts, [{ values }])
      return answer
    } catch (error) {
      log('error', 'events', { published, error: describeError(error) }, [
        { values: { eventsPublished: published, eventsFailed: 1 } },
      ])
      throw error
    }
  }
}
