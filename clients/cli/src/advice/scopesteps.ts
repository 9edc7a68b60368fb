/** Tries a smaller scope of a key or a trust, makes it real, and goes back: each step after a dry run and a question. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import type { AccessKey, Scope } from '../../../core/src/objects.ts'
import { realPatch, refusedByTrial, scopeDiff, trialPatch, undoPatch } from '../../../core/src/scopechange.ts'
import { hintAtPlaces } from '../api/instances.ts'
import { asKey, keyPath, trustPath } from '../api/keys.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { readUsage } from '../api/usage.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { confirm } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plain } from '../output/plain.ts'
import { expiry, withTime } from '../output/times.ts'

/** Whose scope is to change, and whether to ask first. */
export interface Target {
  io: Io
  session: Session
  name: string
  /** Whether it is a trust, which has the same fields as a key but no advice. */
  isTrust: boolean
  yes: boolean
}

const pathOf = ({ isTrust, name }: Target): string => (isTrust ? trustPath(name) : keyPath(name))
const commandOf = ({ isTrust, name }: Target): string => `keyplane advise ${name}${isTrust ? ' --trust' : ''}`
const showingOf = (target: Target): string => (target.isTrust ? commandOf(target) : `keyplane keys show ${target.name}`)
const read = async (target: Target): Promise<AccessKey> => asKey(await target.session.get(pathOf(target)))

interface Step {
  patch: JsonObject[]
  /** Returns what the step changes, given the object as the server would make it. */
  diff(checked: AccessKey): readonly string[]
  /** Whether people expect that the step adds nothing. */
  isSmaller?: true
  /** What the step means, before the question. */
  meaning: string
  question: string
  done: string | ((changed: AccessKey) => string)
}

/** Tries a scope for some seconds: without one, the advised scope. Returns the object. */
export async function beginTrial(
  target: Target,
  seconds: number,
  { replace, scope: asked }: { replace: boolean; scope: Scope | undefined },
): Promise<JsonObject> {
  const { io, session, name } = target
  await hintAtPlaces(io, session, asked)
  const key = await read(target)
  const running = key.status?.scopeTrial
  if (running?.phase === 'Running' && !replace) {
    throw new CliError(
      `A trial of ${name} runs already. It ends ${withTime(expiry(running.until, io.now()), running.until)}.`,
      {
        hint: `What it has found: ${showingOf(target)}\nTo begin another one: --replace. To make its scope real: --apply. To end it: --undo.`,
      },
    )
  }
  const scope = asked ?? (await advisedScope(target))
  if (scopeDiff(key.spec?.scope, scope).length === 0)
    throw new CliError(`${name} has this scope already, so there is nothing to try.`)
  const until = `${new Date(io.now().getTime() + seconds * 1000).toISOString().slice(0, 19)}Z`
  return take(target, {
    patch: trialPatch(key, scope, until),
    isSmaller: true,
    diff: ({ spec }) => scopeDiff(key.spec?.scope, spec?.scopeTrial?.scope),
    meaning: `Until ${until}, requests that need what is removed succeed with a warning, and are recorded.`,
    question: `Try this scope for ${name}?`,
    done: `The trial runs until ${until}. What it finds: ${showingOf(target)}. To make its scope real: ${commandOf(target)} --apply`,
  })
}

/** Makes the scope of the trial real, or the advised one without a trial. Returns the object. */
export async function makeReal(target: Target, { force }: { force: boolean }): Promise<JsonObject> {
  const { name } = target
  const key = await read(target)
  const tried = key.spec?.scopeTrial?.scope
  const scope = tried ?? (await advisedScope(target))
  const { until, phase } = key.status?.scopeTrial ?? {}
  return take(target, {
    patch: realPatch(key, scope, { isForced: force }),
    isSmaller: true,
    diff: ({ spec }) => scopeDiff(key.spec?.scope, spec?.scope),
    meaning: [
      ...(tried ? [] : ['There was no trial.']),
      'Requests that need what is removed are refused.',
      ...(phase === 'Running' ? [`The trial would run until ${until}.`] : []),
    ].join(' '),
    question: `Make this the scope of ${name}${tried ? '' : ' without a trial'}?`,
    done: `${name} has ${tried ? 'the scope of the trial' : 'this scope'}. To put the former one back within 30 days: ${commandOf(target)} --undo`,
  })
}

/** Ends the trial or, without one, puts the former scope back or, without that, drops the scopes that were added. Returns the object. */
export async function undo(target: Target): Promise<JsonObject> {
  const { name } = target
  const key = await read(target)
  const step = undoPatch(key)
  if (step === undefined) throw new CliError(`${name} has no trial, and no former scope is kept.`)
  const { formerScope } = key.status ?? {}
  if (step.undoes === 'trial') {
    const again = formerScope
      ? ` The scope that it had until ${formerScope.replaced} is kept: repeat the command to put it back.`
      : ''
    return take(target, {
      patch: step.patch,
      diff: () => [],
      meaning: 'This ends the trial and forgets what it has found. The scope stays as it is.',
      question: `End the trial of ${name}?`,
      done: `The trial of ${name} has ended. Its scope stays as it was.${again}`,
    })
  }
  if (step.undoes === 'added') {
    const lines = (key.status?.addedScopes ?? []).flatMap((scope) => scopeDiff({}, scope))
    return take(target, {
      patch: step.patch,
      diff: () => ['It is no longer limited to:', ...lines.map((line) => `  ${line.slice(2)}`)],
      meaning: 'Changes with scoped access keys have added these scopes. Those that it was made with stay.',
      question: `Drop them from ${name}?`,
      done: `${name} is limited by its own scope and those that it was made with.`,
    })
  }
  return take(target, {
    patch: step.patch,
    diff: ({ spec }) => scopeDiff(key.spec?.scope, spec?.scope),
    meaning: `This is the scope that the ${target.isTrust ? 'trust' : 'key'} had until ${formerScope?.replaced}.`,
    question: `Put it back?`,
    done: ({ status }) =>
      status?.addedScopes?.length
        ? `${name} has its former scope again, but scopes that were added to it still limit it. To drop them: ${commandOf(target)} --undo`
        : `${name} has its former scope again.`,
  })
}

/** Throws a CliError with the reasons if there is none. */
async function advisedScope({ session, name, isTrust }: Target): Promise<Scope> {
  if (isTrust) throw new CliError(`${name} has no trial.`)
  const { advice = {} } = (await readUsage(session, name)).usage
  if (advice.scope) return advice.scope
  const why = (advice.unknowns ?? []).filter(({ withholds }) => withholds).map(({ message }) => `  ${message}`)
  throw new CliError([`No smaller scope is advised for ${name}${why.length > 0 ? ':' : '.'}`, ...why].join('\n'), {
    hint: `What it does: keyplane usage ${name}`,
  })
}

/** Changes the object after a dry run and a question. The patch is not repeated after a failure: it might have arrived. */
async function take(target: Target, step: Step): Promise<JsonObject> {
  const { io, session, yes } = target
  const send = (dryRun: boolean) =>
    session.patch(pathOf(target), step.patch, { dryRun, repeatable: dryRun }).catch((error: unknown) => {
      throw explained(error, target)
    })
  const diff = step.diff(asKey(await send(true)))
  io.err(diff.map((line) => `  ${plain(line)}\n`).join(''))
  const adds = step.isSmaller && diff.some((line) => line.startsWith('+'))
  note(io, `${step.meaning}${adds ? ' What is marked with + may allow more than before.' : ''}`)
  if (!yes && !(await confirm(io, step.question))) throw new CliError('Nothing was changed.')
  const changed = await send(false)
  note(io, typeof step.done === 'string' ? step.done : step.done(asKey(changed)))
  return changed
}

/** Returns a conflict in words, and every other error as it is. */
function explained(error: unknown, target: Target): unknown {
  if (!(error instanceof StatusError) || error.code !== 409) return error
  const refused = refusedByTrial(error.status)
  const { exitCode } = error
  if (refused === undefined) {
    const hint = 'Repeat the command to see it as it is now.'
    return new CliError(`${target.name} has changed meanwhile. This command has changed nothing.`, {
      exitCode,
      hint,
      cause: error,
    })
  }
  const words = ['The scope of the trial would have refused requests:', ...refused.map((one) => `  ${one}`)]
  const again = target.isTrust ? '' : `To try a scope that allows them: ${commandOf(target)} --trial 7d --replace\n`
  const hint = `${again}To make it real anyway: ${commandOf(target)} --apply --force`
  return new CliError(words.join('\n'), { exitCode, hint, cause: error })
}
