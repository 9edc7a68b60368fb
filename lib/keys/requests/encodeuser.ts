/** Encodes the user that the authorizer passes to the handlers. `usercontext.ts` decodes it in every function. */
import type { UserInfo } from '../../access/users/user.ts'
import { encode, MAX_CONTEXT, type UserTexts } from './usercontext.ts'

/**
 * Encodes the record. Throws an Error when a text does not fit, because a truncated chain would grant more; the last warnings are
 * left out then. During a deploy, functions of the previous release decode the texts and ignore members that they do not know.
 */
export function encodeUser(whole: UserInfo, warnings: readonly string[] = []): UserTexts {
  const { credential, federation, makers, sourceCIDRs, ...user } = whole
  const texts: Record<string, string> = firstThatFit(warnings)
  for (const [name, value] of Object.entries({ user, credential, federation, makers, sourceCIDRs })) {
    if (value === undefined) continue
    texts[name] = encode(value)
    if (!fits(texts[name])) throw new Error(`the ${name} does not fit the context of the authorizer`)
  }
  return texts as UserTexts
}

const fits = (text: string): boolean => text.length <= MAX_CONTEXT

function firstThatFit(warnings: readonly string[]): Record<string, string> {
  const texts = warnings.map((_, index) => encode(warnings.slice(0, index + 1))).filter(fits)
  const last = texts.at(-1)
  return last === undefined ? {} : { warnings: last }
}
