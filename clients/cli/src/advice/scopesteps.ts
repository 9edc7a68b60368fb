/** Tries the advised scope of a key, makes it real, and goes back: each step after a dry run and a question. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import {
  realPatch,
  refusedByTrial,
  scopeDiff,
  scopePatch,
  trialPatch,
  undoPatch,
} from '../../../core/src/scopechange.ts'
import { asKey, keyPath } from '../api/keys.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { readUsage, readUsedKey, type UsedKey } from '../api/usage.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { confirm } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plain } from '../output/plain.ts'
import { expiry, withTime } from '../output/times.ts'

/** A key whose scope is to change, and whether to ask first. */
export interface Target {
  io: Io
  session: Session
  name: string
  yes: boolean
}

interface Step {
  patch: JsonObject[]
  diff: readonly string[]
  /** What the step means, before the question. */
  meaning: string
  question: string
  done: string
}

/** Tries the advised scope for some seconds. Returns the key. */
export async function beginTrial(
  target: Target,
  seconds: number,
  { replace }: { replace: boolean },
): Promise<JsonObject> {
  const { io, session, name } = target
  const used = await readUsedKey(session, name)
  const { key } = used
  const running = key.status?.scopeTrial
  if (running?.phase === 'Running' && !replace) {
    throw new CliError(
      `A trial of ${name} runs already. It ends ${withTime(expiry(running.until, io.now()), running.until)}.`,
      {
        hint: `What it has found: keyplane keys show ${name}\nTo begin another one: --replace. To make its scope real: --apply. To end it: --undo.`,
      },
    )
  }
  const scope = advisedScope(used)
  const until = `${new Date(io.now().getTime() + seconds * 1000).toISOString().slice(0, 19)}Z`
  return take(target, {
    patch: trialPatch(key, scope, until),
    diff: scopeDiff(key.spec?.scope, scope),
    meaning: `Until ${until}, requests that need what is removed succeed with a warning, and are recorded.`,
    question: `Try this scope for ${name}?`,
    done: `The trial runs until ${until}. What it finds: keyplane keys show ${name}. To make its scope real: keyplane advise ${name} --apply`,
  })
}

/** Makes the scope of the trial real, or the advised one without a trial. Returns the key. */
export async function makeReal(target: Target, { force }: { force: boolean }): Promise<JsonObject> {
  const { session, name } = target
  const key = asKey(await session.get(keyPath(name)))
  const real = realPatch(key, { isForced: force })
  const { until, phase, complete } = key.status?.scopeTrial ?? {}
  if (real) {
    return take(target, {
      patch: real,
      diff: scopeDiff(key.spec?.scope, key.spec?.scopeTrial?.scope),
      meaning: `Requests that need what is removed are refused.${phase === 'Running' ? ` The trial would run until ${until}.` : ''}${complete === false ? ' It has not recorded everything.' : ''}`,
      question: `Make this the scope of ${name}?`,
      done: `${name} has the scope of the trial. To put the former one back within 30 days: keyplane advise ${name} --undo`,
    })
  }
  const scope = advisedScope({ key, ...(await readUsage(session, name)) })
  return take(target, {
    patch: scopePatch(key, scope),
    diff: scopeDiff(key.spec?.scope, scope),
    meaning: `There was no trial. Requests that need what is removed are refused, and the former scope is not kept: --undo cannot put it back.`,
    question: `Make this the scope of ${name} without a trial?`,
    done: `${name} has this scope.`,
  })
}

/** Ends the trial or, without one, puts the former scope back. Returns the key. */
export async function undo(target: Target): Promise<JsonObject> {
  const { session, name } = target
  const key = asKey(await session.get(keyPath(name)))
  const step = undoPatch(key)
  if (step === undefined) throw new CliError(`${name} has no trial, and no former scope is kept.`)
  const { formerScope } = key.status ?? {}
  if (step.undoes === 'trial') {
    const again = formerScope
      ? ` The scope that it had until ${formerScope.replaced} is kept: repeat the command to put it back.`
      : ''
    return take(target, {
      patch: step.patch,
      diff: [],
      meaning: 'This ends the trial and forgets what it has found. The scope of the key stays as it is.',
      question: `End the trial of ${name}?`,
      done: `The trial of ${name} has ended. Nothing was made real.${again}`,
    })
  }
  return take(target, {
    patch: step.patch,
    diff: scopeDiff(key.spec?.scope, formerScope?.scope),
    meaning: `This is the scope that the key had until ${formerScope?.replaced}.`,
    question: `Put it back?`,
    done: `${name} has its former scope again.`,
  })
}

/** Throws a CliError with the reasons if there is none. */
function advisedScope({ key, usage: { advice = {} } }: UsedKey) {
  if (advice.scope) return advice.scope
  const why = (advice.unknowns ?? []).filter(({ withholds }) => withholds).map(({ message }) => `  ${message}`)
  const name = key.metadata.name
  throw new CliError([`No smaller scope is advised for ${name}${why.length > 0 ? ':' : '.'}`, ...why].join('\n'), {
    hint: `What it does: keyplane usage ${name}`,
  })
}

/** Changes the key after a dry run and a question. The patch is not repeated after a failure: it might have arrived. */
async function take({ io, session, name, yes }: Target, step: Step): Promise<JsonObject> {
  const send = (dryRun: boolean) =>
    session.patch(keyPath(name), step.patch, { dryRun, repeatable: dryRun }).catch((error: unknown) => {
      throw explained(error, name)
    })
  await send(true)
  io.err(step.diff.map((line) => `  ${plain(line)}\n`).join(''))
  note(io, step.meaning)
  if (!yes && !(await confirm(io, step.question))) throw new CliError('Nothing was changed.')
  const changed = await send(false)
  note(io, step.done)
  return changed
}

/** Returns a conflict in words, and every other error as it is. */
function explained(error: unknown, name: string): unknown {
  if (!(error instanceof StatusError) || error.code !== 409) return error
  const refused = refusedByTrial(error.status)
  const { exitCode } = error
  if (refused === undefined) {
    const hint = 'Repeat the command to see it as it is now.'
    return new CliError(`${name} has changed meanwhile. This command has changed nothing.`, {
      exitCode,
      hint,
      cause: error,
    })
  }
  const words = ['The scope of the trial would have refused requests:', ...refused.map((one) => `  ${one}`)]
  const hint = `To try a scope that allows them: keyplane advise ${name} --trial 7d --replace\nTo make it real anyway: keyplane advise ${name} --apply --force`
  return new CliError(words.join('\n'), { exitCode, hint, cause: error })
}
