import { useEffect, useRef, useState } from 'preact/hooks'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { Code } from '../../components/code.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useProviders } from '../../components/hooks/usetrusts.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { claimsInWords } from '../../text/claims.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { type Draft, draftFor, fieldOf, type Problems, problemsOf, providerObject, trustObject } from './draft.ts'
import { yamlOf } from './manifest.ts'
import { JobFields, OwnerFields, PlatformField, ProviderFields, RightsFields } from './newtrustfields.tsx'
import type { Platform } from './platforms/platforms.ts'
import { usePlatforms } from './platforms/useplatforms.ts'

/** A form that leads to a trust. It proposes only trusts that name one workload, and shows what it is about to make. */
export function NewTrustPage({ route }: { route: Route }) {
  const platform = route.query.get('platform')
  const platforms = usePlatforms()
  const providers = useProviders()
  return (
    <Page title="New trust" about="A trust lets jobs of a platform in without a stored secret.">
      <Fresh polled={platforms}>
        {(all) => {
          const first = all.find(({ type }) => type === platform) ?? all[0]
          // Which fields there are depends on the providers. None may go while somebody types.
          if (providers.data === undefined && providers.error === undefined) return <p class="loading">Loading…</p>
          return first && <Form platforms={all} first={first} providers={providers} key={first.type} />
        }}
      </Fresh>
    </Page>
  )
}

interface FormProps {
  platforms: readonly Platform[]
  first: Platform
  providers: ReturnType<typeof useProviders>
}

function Form({ platforms, first, providers }: FormProps) {
  const { api, self } = useSession()
  const notify = useNotify()
  const form = useRef<HTMLFormElement>(null)
  const [given, setDraft] = useState(() => draftFor(first))
  const [chosen, choose] = useState<string>()
  const [problems, setProblems] = useState<Problems>({})
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isTyped = (type = 'OIDC') =>
    (platforms.some((one) => one.type === type) ? type : 'OIDC') === given.platform.type
  const fitting = (providers.data?.items ?? []).filter(({ status, spec }) => isTyped(status?.type) && !spec.disabled)
  const draft: Draft = { ...given, provider: chosen ?? fitting[0]?.metadata.name ?? '' }
  const isMaster = self.groups?.includes('system:masters') ?? false

  const change = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }))
    setProblems({})
  }
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problems])

  const create = async () => {
    setError(undefined)
    const found = problemsOf(draft)
    setProblems(found)
    if (Object.keys(found).length > 0) return
    const provider = providerObject(draft)
    let kind: 'provider' | 'trust' = 'provider'
    setBusy(true)
    try {
      if (provider) {
        await api.send(`${paths.providers}?fieldValidation=Strict`, { method: 'POST', body: provider })
        // If the trust fails, the next attempt uses the provider.
        choose(draft.newProvider.name.trim())
        void providers.refresh()
      }
      kind = 'trust'
      await api.send(`${paths.trusts}?fieldValidation=Strict`, { method: 'POST', body: trustObject(draft) })
      const name = draft.name.trim()
      notify({ tone: 'good', text: `The trust ${name} is created. Copy its job from here.` })
      location.hash = hrefOf('trusts', ['credentials', name])
    } catch (failure) {
      setBusy(false)
      const refused = refusals(failure, kind, draft)
      setProblems(refused.problems)
      if (refused.isPartial) setError(failure)
    }
  }

  const trust = trustObject(draft)
  const { scope, claims } = trust.spec
  const { platform, ownerKind, owner, ttl } = draft
  const jobs = claimsInWords(claims, platform.type)
  const whose = ownerKind === '' ? 'yours' : `${ownerKind} ${owner.trim()}`
  const fields = { draft, problems, change }
  const isComplete = Object.keys(problemsOf(draft)).length === 0
  const provider = providerObject(draft)
  const objects = [...(provider ? [provider] : []), trust]
  return (
    <div class="halves">
      <form
        ref={form}
        class="card stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <PlatformField
          platforms={platforms}
          platform={platform}
          onChange={(next) => {
            setDraft((before) => draftFor(next, before))
            choose(undefined)
            setProblems({})
          }}
        />
        {providers.error instanceof ApiError && providers.error.code === 403 ? (
          <Notice tone="plain" title="Your access key may not list identity providers." />
        ) : (
          providers.error !== undefined && <ErrorNotice error={providers.error} />
        )}
        <ProviderFields {...fields} providers={fitting} choose={choose} isMaster={isMaster} />
        <JobFields {...fields} />
        <OwnerFields {...fields} isMaster={isMaster} teams={teamsOf(self.groups)} />
        <RightsFields
          {...fields}
          most={fitting.find(({ metadata }) => metadata.name === draft.provider)?.spec.maxTTL}
        />
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Creating…' : 'Create'}
          </button>
          <a class="button" href={hrefOf('trusts')}>
            Cancel
          </a>
        </div>
      </form>
      <section class="stack beside" aria-label="What this makes">
        <Notice tone="plain" title="What this means">
          <p>
            {!isComplete ? (
              'Nothing yet: the form is not complete, or a field has an error.'
            ) : (
              <Foreign
                text={`${jobs} get a key of ${whose} for ${lifetimeWords(ttl)}. It may use: ${scopeWords(scope)}.`}
              />
            )}
          </p>
        </Notice>
        <Code title="YAML" text={yamlOf(...objects)} />
        {isComplete && (
          <p class="hint">
            The button does the same as <code>kubectl create -f</code> with this file.
          </p>
        )}
      </section>
    </div>
  )
}

const teamsOf = (groups: readonly string[] = []): string[] =>
  groups.flatMap((group) => (group.startsWith('team:') ? [group.slice('team:'.length)] : []))

/** Returns the messages of a refusal by field, and whether some are about no field. */
function refusals(
  failure: unknown,
  kind: 'provider' | 'trust',
  draft: Draft,
): { problems: Problems; isPartial: boolean } {
  const status = failure instanceof ApiError ? failure.status : {}
  if (status.reason === 'AlreadyExists') {
    return { problems: { [kind === 'trust' ? 'name' : 'providerName']: 'This name is taken.' }, isPartial: false }
  }
  const causes = status.details?.causes ?? []
  const found = causes.map(({ field = '', message = '' }) => [fieldOf(field, kind, draft), message] as const)
  return {
    problems: Object.fromEntries(found.filter(([field]) => field !== undefined)),
    isPartial: found.length === 0 || found.some(([field]) => field === undefined),
  }
}
