import type { ComponentType } from 'preact'
import { useRef } from 'preact/hooks'
import { paths } from '../../api/paths.ts'
import type { Trust } from '../../api/trusts.ts'
import { Code } from '../../components/code.tsx'
import type { useProviders } from '../../components/hooks/usetrusts.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh } from '../../components/page.tsx'
import { usePolled } from '../../session/usepolled.ts'
import { shellWord } from '../../text/kubectl.ts'
import type { Draft } from './draft.ts'
import { draftOf, trustPatch } from './existing.ts'
import type { Platform } from './platforms/platforms.ts'

export interface FormProps {
  platforms: readonly Platform[]
  first: Draft
  providers: ReturnType<typeof useProviders>
  /** The trust that the form changes, and the patch that does it. */
  edited?: { trust: Trust; patch(draft: Draft): object } | undefined
}

interface OfTrustProps extends Omit<FormProps, 'first' | 'edited'> {
  name: string
  /** Whether the form changes the trust. Otherwise it makes one like it. */
  isEdited: boolean
  Form: ComponentType<FormProps>
}

/** Fills the form with what a trust is. */
export function OfTrust({ name, isEdited, Form, ...form }: OfTrustProps) {
  const polled = usePolled<Trust>(`trust ${name}`, ({ api }, signal) => api.send(paths.trust(name), { signal }))
  const seen = useRef<Trust>(undefined)
  // What the trust is later does not change what the person types.
  seen.current ??= polled.data
  const trust = seen.current
  if (!trust) return <Fresh polled={polled}>{() => null}</Fresh>
  const { platforms, providers } = form
  const type = providers.data?.items.find(({ metadata }) => metadata.name === trust.spec.identityProvider)?.status?.type
  const platform = platforms.find((one) => one.type === (type ?? 'OIDC')) ?? platforms.at(-1)
  const draft = platform && draftOf(trust, platform)
  if (!draft)
    return (
      <Notice tone="warn" title="The form cannot show this trust.">
        <p>It has claims, patterns or entries of a scope for which the form has no fields. This opens it as YAML:</p>
        <Code title="kubectl" text={`kubectl edit federatedidentitycredentials ${shellWord(name)}\n`} />
      </Notice>
    )
  return (
    <Form
      {...form}
      first={isEdited ? draft : { ...draft, name: '' }}
      edited={isEdited ? { trust, patch: (draft) => trustPatch(trust, draft) } : undefined}
    />
  )
}
