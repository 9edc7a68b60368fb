/** Plays a scenario against a server and returns its answers, step by step, in the recorded form. */

import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { dumpYaml, parseYaml } from '../../lib/engine/meta/encoding/yaml.ts'
import { patience } from '../support/patience.ts'
import { type Client, createClient, type Reply, type Target } from './client.ts'
import { type Difference, differences } from './differences.ts'
import { createNames, type Names } from './names.ts'
import { read, removeAll } from './pointer.ts'
import { type Answer, isStep, type Json, type Scenario, type Step } from './scenario.ts'
import { fill } from './template.ts'

/** A server and the members that its answers may add to the recorded ones. */
export interface Subject extends Target {
  /** Returns pointers into objects for the code of an answer. */
  additions?(code: number): readonly string[]
  /** Does at once what a real server does in the seconds of a wait. */
  settle?(): Promise<void>
}

export interface Played {
  /** Counted from 1, including waits. */
  number: number
  step: Step
  got: Answer
}

const comparedHeaders = ['content-type', 'warning', 'retry-after']

/** Returns a unique prefix for the names of a run. */
export const freshRun = (): string => `r${Array.from({ length: 7 }, () => randomInt(36).toString(36)).join('')}`

/** Yields the answers of all steps in order. Pass `saved` to inspect saved values or to choose `run`. */
export async function* play(
  scenario: Scenario,
  target: Target & Pick<Subject, 'settle'>,
  saved: Record<string, string> = {},
): AsyncGenerator<Played> {
  const run = saved.run ?? freshRun()
  saved.run = run
  const names = createNames(run)
  const client = createClient(target)
  try {
    for (const [index, entry] of scenario.steps.entries()) {
      if (!isStep(entry)) {
        await (target.settle?.() ?? delay(entry.wait * 1000))
        continue
      }
      yield { number: index + 1, step: entry, got: await take(entry, client, names, saved) }
    }
  } finally {
    client.close()
  }
}

async function take(step: Step, client: Client, names: Names, saved: Record<string, string>): Promise<Answer> {
  const { method, path, headers, body, during, as: user, watch } = step
  const request = fill({ method, path, headers, body, during }, saved)
  const base = /"?generateName"?: ?"([^"]+)"/.exec(textOf(request.body))?.[1]
  if (base !== undefined) names.generates(base)
  const options = requestOptions(
    user,
    watch && { ...watch, ...(isAwaited(step) && { seconds: patience.timeout / 1000 }) },
  )
  const reply = await client.send({ ...(JSON.parse(JSON.stringify(request)) as Step), ...options })
  const value = await parseBody(reply)
  names.learn(value)
  for (const event of reply.events) names.learn(event.object)
  for (const [name, pointer] of Object.entries(step.save ?? {})) {
    const found = read(value, pointer)
    if (found !== undefined) saved[name] = String(found)
  }
  return recordAnswer(step, reply, value, names)
}

/** Reports whether the recorded watch ended by itself or with its last event: then its seconds only end what hangs. */
const isAwaited = ({ watch, want }: Step): boolean =>
  want?.ended === true || (want?.events?.length ?? -1) >= (watch?.events ?? Number.POSITIVE_INFINITY)

const requestOptions = (user: string | undefined, watch: Step['watch']) => ({
  ...(user !== undefined && { as: user }),
  ...(watch && { watch }),
})

const textOf = (body: Json): string => (typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))

const isYaml = ({ headers }: Reply): boolean => /yaml/.test(headers['content-type'] ?? '')

/** Returns undefined for other text. */
async function parseBody(reply: Reply): Promise<Json> {
  if (isYaml(reply)) return (await parseYaml(reply.text)).value
  try {
    return JSON.parse(reply.text)
  } catch {
    return undefined
  }
}

async function recordAnswer(step: Step, reply: Reply, value: Json, names: Names): Promise<Answer> {
  const { code, headers, text, events, ended } = reply
  const shown = comparedHeaders.flatMap((name) => {
    const header = headers[name]
    return header === undefined ? [] : [[name, names.text(header)] as const]
  })
  const answer: Answer = { code, headers: Object.fromEntries(shown) }
  const ignored = (step.ignore ?? []).flatMap((one) => [one, `/items/*${one}`, `/rows/*/object${one}`])
  if (step.watch && code === 200) {
    const objects = events.map(({ type, object }) => names.value({ type, object: removeAll(object, ignored) }))
    const early = ended && events.length < step.watch.events
    return { ...answer, events: objects, ...(early && { ended: true }) }
  }
  if (isYaml(reply)) return { ...answer, lines: linesOf(await dumpYaml(names.value(value))) }
  if (value === undefined) return { ...answer, text: names.text(text) }
  return { ...answer, body: step.only ? pickValues(step.only, value, names) : names.value(removeAll(value, ignored)) }
}

/** Returns the values at the pointers, null for missing ones. */
function pickValues(pointers: readonly string[], json: Json, names: Names): Json {
  return Object.fromEntries(
    pointers.map((pointer) => {
      const at = pointer.lastIndexOf('/')
      const value = names.value(read(json, pointer), pointer.slice(at + 1), read(json, pointer.slice(0, at)))
      return [pointer, value ?? null]
    }),
  )
}

/** Returns YAML as a set of lines without indent, dashes and quotes, because a value can be written in many ways. */
const linesOf = (yaml: string): string[] =>
  yaml
    .split('\n')
    .map((line) => line.replace(/^[\s-]+|["']/g, '').trimEnd())
    .filter(Boolean)
    .sort()

export interface Failure extends Difference {
  number: number
  say: string
}

/** Plays all steps and returns the differences from the recorded answers. */
export async function check(scenario: Scenario, subject: Subject): Promise<Failure[]> {
  const failures: Failure[] = []
  for await (const { number, step, got } of play(scenario, subject)) {
    const say = `${step.method} ${step.path}: ${step.say ?? ''}`
    const additions = subject.additions?.(got.code) ?? []
    failures.push(...differences(step, got, additions).map((one) => ({ number, say, ...one })))
  }
  return failures
}
