/** Encodes the user that the authorizer passes to the handlers. `usercontext.ts` decodes it in every function. */
import type { UserInfo } from '../../authorization/users/user.ts'
import { encode, MAX_CONTEXT, type UserTexts } from './usercontext.ts'

/**
 * Encodes the record. Throws an Error when a text does not fit, because a truncated chain would grant more; trials and warnings are
 * left out then. During a deploy, functions of the previous release decode the texts and ignore members that they do not know.
 */
export function encodeUser(whole: UserInfo, warnings: readonly string[] = []): UserTexts {
  const { credential, federation, makers, sourceCIDRs, trials, ...user } = whole
  const members = {
    user,
    credential,
    federation,
    makers,
    sourceCIDRs,
    trials,
    ...(warnings.length > 0 && { warnings }),
  }
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    const text = encode(value)
    if (text.length <= MAX_CONTEXT) texts[name] = text
    else if (Array.isArray(value) && ADVISORY.has(name)) Object.assign(texts, firstThatFit(name, value))
    else throw new Error(`the ${name} does not fit the context of the authorizer`)
  }
  return texts as UserTexts
}

/** What allows and refuses nothing, so that the last ones may be left out. */
const ADVISORY: ReadonlySet<string> = new Set(['trials', 'warnings'])

function firstThatFit(name: string, all: readonly unknown[]): Record<string, string> {
  const lengths = all.map((_, index) => index + 1)
  const fitting = lengths.map((length) => encode(all.slice(0, length))).filter(({ length }) => length <= MAX_CONTEXT)
  const last = fitting.at(-1)
  return last === undefined ? {} : { [name]: last }
}
