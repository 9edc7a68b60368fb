/** Tests what a write makes of the trial of a scope, and on what it depends. */
import { expect, test } from 'vitest'
import { planTrial } from '../../../../../../lib/apis/management/v1/trial/scopetrial.plan.ts'
import { FORMER_SECONDS } from '../../../../../../lib/authentication/keyinternal.ts'
import type { JsonObject } from '../../../../../../lib/meta/types.ts'

const scopeOf = (project: string) => ({ projects: [{ project }] })
const [real, smaller, other] = [scopeOf('a'), scopeOf('b'), scopeOf('c')] as const
const until = '2026-12-03T10:00:00Z'
const expires = Date.parse(until) / 1000 + 90 * 86_400
const now = Date.parse('2026-11-26T10:00:00Z') / 1000
const trial = { uid: 'u-1', since: now - 100 }
const item = { pk: 'trial#u-1', sk: String(trial.since) }
type Spec = Parameters<typeof planTrial>[0]['next']

const running: Spec = { scope: real, scopeTrial: { scope: smaller, until } }
const plan = (before: Spec | undefined, next: Spec, state: object = { trial }, stored?: JsonObject) =>
  planTrial({
    before,
    next,
    state,
    name: 'ci',
    uid: 'u-1',
    now,
    resource: { group: 'management.platform', resource: 'ownedaccesskeys' },
    read: async () => stored,
    refused: async () => ['list of pods (2026-11-26)'],
  })

test('a trial begins with its item, goes on, and begins anew with another scope', async () => {
  const begun = { state: { trial: { uid: 'u-1', since: now } }, isOver: false }
  const put = { op: 'put', pk: 'trial#u-1', sk: String(now), attributes: { expires } }
  expect(await plan(undefined, running, {})).toEqual({ ...begun, items: [put] })
  expect(await plan(running, running)).toEqual({ state: { trial }, isOver: false, items: [] })
  const later = await plan({ ...running, scopeTrial: { scope: smaller, until: '2026-11-27T00:00:00Z' } }, running)
  expect(later.items).toEqual([{ op: 'set', ...item, attributes: { expires } }])
  const another = await plan(running, { scope: real, scopeTrial: { scope: other, until } })
  expect(another).toEqual({ ...begun, items: [{ op: 'delete', ...item }, put] })
  // The items of two trials of one second differ, also after the first one was removed.
  const next = { scope: real, scopeTrial: { scope: other, until } }
  const atOnce = await plan(running, next, { trial: { ...trial, since: now } })
  const again = await plan({ scope: real }, next, { lastTrial: now })
  expect([atOnce.state.trial?.since, again.state.trial?.since]).toEqual([now + 1, now + 1])
})

test('a trial that is made real depends on its item, which has no refusal', async () => {
  const made = { state: { lastTrial: trial.since, former: { scope: real, at: now } }, isOver: true }
  const next = { scope: smaller }
  expect(await plan(running, next, { trial }, { expires })).toEqual({
    ...made,
    items: [{ op: 'delete', ...item, when: { lacks: ['seen'] } }],
  })
  const seen = { expires, seen: true, 'r#1': '2026-11-26', 'r#2': '2026-11-25', 'r#3': '2026-11-24' }
  const { conflict } = await plan(running, next, { trial }, seen)
  const causes = conflict?.status.details?.causes?.map(({ message }) => message)
  expect([conflict?.status.code, causes]).toEqual([
    409,
    ['list of pods (2026-11-26)', '2 more kinds of requests (2026-11-26)'],
  ])
  const forced = { scope: smaller, scopeTrial: { scope: smaller, until, force: true } }
  expect(await plan(running, forced, { trial }, seen)).toEqual({ ...made, items: [{ op: 'delete', ...item }] })
  const unscoped = await plan({ scopeTrial: { scope: smaller, until } }, next, { trial }, { expires })
  expect(unscoped.state.former).toEqual({ at: now })
  const goesOn = await plan(running, { scope: smaller, scopeTrial: { scope: other, until } }, { trial }, { expires })
  expect([goesOn.isOver, goesOn.state, goesOn.items.length]).toEqual([
    false,
    { ...made.state, trial: { uid: 'u-1', since: now } },
    2,
  ])
})

test('a trial that is removed, or tries the scope itself, ends', async () => {
  const ended = { state: { lastTrial: trial.since }, items: [{ op: 'delete', ...item }] }
  expect(await plan(running, { scope: real })).toEqual({ ...ended, isOver: false })
  expect(await plan(running, { scope: real, scopeTrial: { scope: real, until } })).toEqual({ ...ended, isOver: true })
})

test('a scope that is set together with a trial of it is real at once, and the former one is kept', async () => {
  const former = { scope: real, at: now }
  const atOnce: Spec = { scope: other, scopeTrial: { scope: other } }
  expect(await plan({ scope: real }, atOnce, {})).toEqual({ state: { former }, isOver: true, items: [] })
  expect((await plan({}, atOnce, {})).state).toEqual({ former: { at: now } })
  const ended = await plan(running, atOnce)
  expect([ended.state, ended.items]).toEqual([{ lastTrial: trial.since, former }, [{ op: 'delete', ...item }]])
  // A key that is made so, and a configuration that is applied again, replace nothing.
  expect((await plan(undefined, atOnce, {})).state).toEqual({})
  expect((await plan({ scope: other }, atOnce, { former })).state).toEqual({ former })
})

test('a former scope is kept until it is put back, or its time is over', async () => {
  const former = { scope: real, at: now - 10 }
  const stateOf = async (next: Spec, kept = former) => (await plan({ scope: smaller }, next, { former: kept })).state
  expect(await stateOf({ scope: smaller })).toEqual({ former })
  expect(await stateOf({ scope: other })).toEqual({ former })
  expect(await stateOf({ scope: real })).toEqual({})
  expect(await stateOf({ scope: smaller }, { ...former, at: now - FORMER_SECONDS })).toEqual({})
})
