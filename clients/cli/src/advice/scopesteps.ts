/** Changes the scope of a key or a trust: each change after a dry run, a diff and a question. */
import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { AccessKey, Scope } from '../../../core/src/objects.ts'
import { dropPatch, scopeDiff, scopePatch } from '../../../core/src/scopechange.ts'
import { asKey, keyPath, trustPath } from '../api/keys.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { readUsage } from '../api/usage.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { agreed } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plain } from '../output/plain.ts'
import { facts } from '../output/table.ts'

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
const read = async (target: Target): Promise<AccessKey> => asKey(await target.session.get(pathOf(target)))

interface Step {
  patch: JsonObject[]
  /** Returns what the step changes, given the object as the server would make it. */
  change(checked: AccessKey): string
  /** What the step means, before the question. */
  meaning: string
  question: string
  done: string | ((changed: AccessKey) => string)
}

/** Sets the advised scope. Returns the object; undefined if the person decides against it. */
export async function applyAdvice(target: Target): Promise<JsonObject | undefined> {
  const { name } = target
  const key = await read(target)
  return take(target, {
    patch: scopePatch(key, await advisedScope(target)),
    change: ({ spec }) => comparison(key.spec?.scope, spec?.scope),
    meaning: 'Requests that need what is marked with - are refused.',
    question: `Make this the scope of ${name}?`,
    done: `${name} has this scope. To put the former one back within 30 days: ${commandOf(target)} --undo`,
  })
}

/** Puts the former scope back. Returns the object; undefined if the person decides against it. */
export async function undo(target: Target): Promise<JsonObject | undefined> {
  const { name } = target
  const key = await read(target)
  const former = key.status?.formerScope
  if (former === undefined) throw new CliError(`${name} has no former scope: its scope has not changed for 30 days.`)
  const what = target.isTrust ? 'trust' : 'key'
  return take(target, {
    patch: scopePatch(key, former.scope),
    change: ({ spec }) => comparison(key.spec?.scope, spec?.scope),
    meaning: `The ${what} had this scope until ${former.replaced}. What is marked with + is allowed again.`,
    question: 'Put it back?',
    done: ({ status }) =>
      status?.addedScopes?.length
        ? `${name} has its former scope again, but scopes that were added to it still limit it. To drop them: ${commandOf(target)} --drop-added`
        : `${name} has its former scope again. To take that back: ${commandOf(target)} --undo`,
  })
}

/** Drops the scopes that changes with scoped keys have added. Returns the object; undefined if the person decides against it. */
export async function dropAdded(target: Target): Promise<JsonObject | undefined> {
  const { name } = target
  const key = await read(target)
  const added = key.status?.addedScopes ?? []
  if (added.length === 0) throw new CliError(`${name} has no scopes that were added.`)
  const lines = added.flatMap((scope) => scopeDiff({}, scope))
  return take(target, {
    patch: dropPatch(key),
    change: () => indented(['It is no longer limited to:', ...lines.map((line) => `  ${line.slice(2)}`)]),
    meaning: 'Changes with scoped access keys have added these scopes. Those that it was made with stay.',
    question: `Drop them from ${name}?`,
    done: `${name} is limited by its own scope and those that it was made with.`,
  })
}

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${plain(line)}\n`).join('')

/** Returns what two scopes allow, in words, and the entries in which they differ. */
const comparison = (before: Scope | undefined, after: Scope | undefined): string =>
  facts([
    ['May do now', scopeWords(before)],
    ['May do then', scopeWords(after)],
  ]) + indented(scopeDiff(before, after))

/** Throws a CliError with the reasons if there is none. */
async function advisedScope({ session, name }: Target): Promise<Scope> {
  const { advice = {} } = (await readUsage(session, name)).usage
  if (advice.scope) return advice.scope
  const why = (advice.unknowns ?? []).filter(({ withholds }) => withholds).map(({ message }) => `  ${message}`)
  throw new CliError([`No smaller scope is advised for ${name}${why.length > 0 ? ':' : '.'}`, ...why].join('\n'), {
    hint: `What it does: keyplane usage ${name}`,
  })
}

/** Changes the object after a dry run and a question; returns undefined if the answer is no. The patch is not repeated after a failure: it might have arrived. */
async function take(target: Target, step: Step): Promise<JsonObject | undefined> {
  const { io, session, yes } = target
  const send = (dryRun: boolean) =>
    session.patch(pathOf(target), step.patch, { dryRun, repeatable: dryRun }).catch((error: unknown) => {
      throw explained(error, target)
    })
  io.err(step.change(asKey(await send(true))))
  note(io, step.meaning)
  if (!yes && !(await agreed(io, step.question))) return undefined
  const changed = await send(false)
  note(io, typeof step.done === 'string' ? step.done : step.done(asKey(changed)))
  return changed
}

/** Returns a conflict in words, and every other error as it is. */
function explained(error: unknown, { name }: Target): unknown {
  if (!(error instanceof StatusError) || error.code !== 409) return error
  return new CliError(`${name} has changed meanwhile. This command has changed nothing.`, {
    exitCode: error.exitCode,
    hint: 'Repeat the command to see it as it is now.',
    cause: error,
  })
}
