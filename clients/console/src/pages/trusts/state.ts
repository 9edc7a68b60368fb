/** Says in what state trusts and providers are, and what keeps exchanges from working. */
import type { Provider, Trust } from '../../api/trusts.ts'
import { namedIn } from '../../text/access.ts'

export interface State {
  tone: 'good' | 'warn' | 'bad' | 'plain'
  text: string
}

/** What keeps a trust from working, and what to do about it. */
export interface Problem extends State {
  explanation: string
}

const PROBLEMS = {
  deleted: {
    tone: 'bad',
    text: 'Being deleted',
    explanation: 'ID tokens are no longer exchanged. The garbage collector deletes its keys.',
  },
  disabled: {
    tone: 'plain',
    text: 'Disabled',
    explanation: 'No ID token is exchanged, and the keys of earlier exchanges cannot be used.',
  },
  providerNotFound: {
    tone: 'warn',
    text: 'Provider not found',
    explanation:
      'The identity provider does not exist, or you may not use it. If it was deleted, no ID token is exchanged. A new provider of this name needs a new trust.',
  },
  providerReplaced: {
    tone: 'bad',
    text: 'Provider was replaced',
    explanation:
      'The identity provider was deleted and made again after this trust, which belongs to the earlier one. Delete the trust and create it again.',
  },
  providerDisabled: {
    tone: 'bad',
    text: 'Provider disabled',
    explanation: 'The identity provider exchanges no ID token, and the keys of earlier exchanges cannot be used.',
  },
} as const satisfies Record<string, Problem>

/** Returns the problems of a trust. `providers` are those that the person sees, if they could be read. */
export function problemsOfTrust({ metadata, spec }: Trust, providers: readonly Provider[] | undefined): Problem[] {
  const problems: Problem[] = []
  if (metadata.deletionTimestamp) problems.push(PROBLEMS.deleted)
  else if (spec.disabled) problems.push(PROBLEMS.disabled)
  if (!providers) return problems
  const provider = providers.find((one) => one.metadata.name === spec.identityProvider)
  if (!provider) problems.push(PROBLEMS.providerNotFound)
  else if (provider.metadata.creationTimestamp > metadata.creationTimestamp) problems.push(PROBLEMS.providerReplaced)
  else if (provider.metadata.deletionTimestamp || provider.spec.disabled) problems.push(PROBLEMS.providerDisabled)
  return problems
}

const ACTIVE: State = { tone: 'good', text: 'Active' }

/** Returns the state that matters most. */
export const stateOfTrust = (trust: Trust, providers: readonly Provider[] | undefined): State =>
  problemsOfTrust(trust, providers)[0] ?? ACTIVE

export function stateOfProvider({ metadata, spec }: Provider): State {
  if (metadata.deletionTimestamp) return { tone: 'bad', text: 'Being deleted' }
  return spec.disabled ? { tone: 'plain', text: 'Disabled' } : ACTIVE
}

/** Returns who may see the provider and make trusts in it: `everyone`, `team shop, user alice` or `administrators only`. */
export function accessInWords({ access = [] }: Provider['spec']): string {
  const using = access.filter(({ verbs }) => verbs.includes('use'))
  if (using.some(({ teams }) => teams?.includes('*'))) return 'everyone with a key'
  return namedIn(using).join(', ') || 'administrators only'
}
