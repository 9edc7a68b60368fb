import { useEffect, useRef, useState } from 'preact/hooks'
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { isName } from '../../../../core/src/forms.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import type { Trust } from '../../api/trusts.ts'
import { Code } from '../../components/code.tsx'
import { Paragraph } from '../../components/foreign.tsx'
import { Form } from '../../components/forms/form.tsx'
import { SelectField } from '../../components/forms/selectfield.tsx'
import { useLockout } from '../../components/forms/uselockout.tsx'
import { FreshList } from '../../components/freshlist.tsx'
import { useChange } from '../../components/hooks/usechange.ts'
import { useProviders } from '../../components/hooks/usetrusts.ts'
import { ErrorNotice, Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { ownerInWords } from '../../text/access.ts'
import { claimsInWords } from '../../text/claims.ts'
import { shellWord } from '../../text/kubectl.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { visible } from '../../text/visible.ts'
import { toYaml } from '../../text/yaml.ts'
import {
  type Draft,
  draftFor,
  draftOf,
  fieldOf,
  type Problems,
  problemsOf,
  providerObject,
  trustObject,
  trustPatch,
} from './draft.ts'
import { DisplayName, JobFields, OwnerFields, ProviderFields, RightsFields } from './newtrustfields.tsx'
import type { Platform } from './platforms/platforms.ts'
import { usePlatforms } from './platforms/useplatforms.ts'

/** A form that leads to a trust: a new one, one like another, or one that is changed. It shows what it is about to make. */
export function NewTrustPage({ route: { query } }: { route: Route }) {
  const edited = query.get('edit') ?? ''
  const like = edited || (query.get('like') ?? '')
  const platform = query.get('platform')
  const platforms = usePlatforms()
  const providers = useProviders()
  return (
    <Page
      title={edited ? `Edit ${visible(edited)}` : 'New trust'}
      about="A trust lets jobs of a platform in without a stored secret."
    >
      <Fresh query={platforms}>
        {(all) => {
          const first = all.find(({ type }) => type === platform) ?? all[0]
          // Which fields there are depends on the providers. None may go while somebody types.
          if (providers.data === undefined && providers.error === undefined) return <p class="loading">Loading…</p>
          // Any other text would be the address of something else than a trust.
          if (isName(like))
            return <OfTrust name={like} isEdited={edited !== ''} platforms={all} providers={providers} key={like} />
          return first && <TrustForm platforms={all} first={draftFor(first)} providers={providers} key={first.type} />
        }}
      </Fresh>
    </Page>
  )
}

interface FormProps {
  platforms: readonly Platform[]
  first: Draft
  providers: ReturnType<typeof useProviders>
  /** The trust that the form changes. */
  edited?: Trust | undefined
}

/** Fills the form with what a trust is, to change it or to make one like it. */
function OfTrust({ name, isEdited, ...form }: Omit<FormProps, 'first'> & { name: string; isEdited: boolean }) {
  const query = useQuery<Trust>(`trust ${name}`, ({ api }, signal) => api.send(paths.trust(name), { signal }))
  const seen = useRef<Trust>(undefined)
  // What the trust is later does not change what the person types.
  seen.current ??= query.data
  const trust = seen.current
  if (!trust) return <Fresh query={query}>{() => null}</Fresh>
  const { platforms, providers } = form
  const type = providers.data?.items.find(({ metadata }) => metadata.name === trust.spec.identityProvider)?.status?.type
  const platform = platforms.find((one) => one.type === (type ?? 'OIDC')) ?? platforms.at(-1)
  const draft = platform && draftOf(trust, platform)
  if (draft)
    return <TrustForm {...form} {...(isEdited ? { first: draft, edited: trust } : { first: { ...draft, name: '' } })} />
  return (
    <Notice tone="warn" title="The form cannot show this trust.">
      <p>The form has no fields for some of its claims. This opens it as YAML:</p>
      <Code title="kubectl" text={`kubectl edit federatedidentitycredentials ${shellWord(name)}\n`} />
    </Notice>
  )
}

function TrustForm({ platforms, first, providers, edited }: FormProps) {
  const { api, self } = useSession()
  const notify = useNotify()
  const form = useRef<HTMLFormElement>(null)
  const [given, setDraft] = useState(first)
  const [chosen, choose] = useState<string | undefined>(first.provider || undefined)
  const [problems, setProblems] = useState<Problems>({})
  const isTyped = (type = 'OIDC') =>
    (platforms.some((one) => one.type === type) ? type : 'OIDC') === given.platform.type
  const fitting = (providers.data?.items ?? []).filter(({ status, spec }) => isTyped(status?.type) && !spec.disabled)
  const draft: Draft = { ...given, provider: chosen ?? fitting[0]?.metadata.name ?? '' }
  const isMaster = self.groups?.includes('system:masters') ?? false
  const name = draft.name.trim()
  const path = paths.trust(name)
  const body = edited && trustPatch(edited, draft)
  const provider = providerObject(draft)
  const trust = trustObject(draft)

  const change = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }))
    setProblems({})
  }
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problems])

  const sending = useRef<'provider' | 'trust'>('provider')
  const saving = useChange(
    async () => {
      sending.current = provider ? 'provider' : 'trust'
      if (provider) {
        await api.send(`${paths.providers}?fieldValidation=Strict`, { method: 'POST', body: provider })
        // If the trust fails, the next attempt uses the provider.
        choose(draft.newProvider.name.trim())
        void providers.refresh()
      }
      sending.current = 'trust'
      if (body) return api.send(path, { method: 'PATCH', body })
      return api.send(`${paths.trusts}?fieldValidation=Strict`, { method: 'POST', body: trust })
    },
    () => {
      notify({ tone: 'good', text: `The trust ${name} is ${edited ? 'changed' : 'created. Copy its job from here'}.` })
      location.hash = hrefOf('trusts', ['credentials', name])
    },
  )
  const saved = useLockout(
    saving,
    edited?.status?.mayReview && body && { path, call: { method: 'PATCH', body } as const, name },
  )
  const refused = refusals(saved.error, sending.current, draft)
  useEffect(() => setProblems(refused.problems), [saved.error])

  const { scope, claims } = trust.spec
  const { platform, ownerKind, owner, ttl } = draft
  const jobs = claimsInWords(claims, platform.type)
  const named = ownerKind === '' ? 'yours' : `${ownerKind} ${owner.trim()}`
  const whose = edited ? ownerInWords(edited.status?.owner) : named
  const meaning = `${jobs} get a key of ${whose} for ${lifetimeWords(ttl)}. It may use: ${scopeWords(scope)}.`
  const fields = { draft, problems, change }
  const isComplete = Object.keys(problemsOf(draft)).length === 0
  const objects = [...(provider ? [provider] : []), trust]
  return (
    <div class="halves">
      <Form
        ref={form}
        class="card stack"
        noValidate
        onSubmit={() => {
          const found = problemsOf(draft)
          setProblems(found)
          if (Object.keys(found).length === 0) void saved.run()
        }}
      >
        {edited ? (
          <DisplayName {...fields} />
        ) : (
          <>
            <SelectField
              label="Platform"
              options={platforms.map(({ type, label }) => [type, label])}
              value={platform.type}
              onChange={(type) => {
                setDraft((before) => draftFor(platforms.find((one) => one.type === type) ?? platform, before))
                choose(undefined)
                setProblems({})
              }}
            />
            <FreshList query={providers} what="identity providers">
              {() => null}
            </FreshList>
            <ProviderFields {...fields} providers={fitting} choose={choose} isMaster={isMaster} />
          </>
        )}
        <JobFields {...fields} />
        {!edited && <OwnerFields {...fields} isMaster={isMaster} groups={self.groups} />}
        <RightsFields
          {...fields}
          most={fitting.find(({ metadata }) => metadata.name === draft.provider)?.spec.maxTTL}
        />
        {saved.asked}
        {saved.error !== undefined && refused.isPartial && <ErrorNotice error={saved.error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={saved.isBusy}>
            {edited ? 'Save' : saved.isBusy ? 'Creating…' : 'Create'}
          </button>
          <a class="button" href={edited ? hrefOf('trusts', ['credentials', name]) : hrefOf('trusts')}>
            Cancel
          </a>
        </div>
      </Form>
      <section class="stack beside" aria-label="What this makes">
        <Notice tone="plain" title="What this means">
          <Paragraph text={isComplete ? meaning : 'Nothing yet: the form is not complete, or a field has an error.'} />
        </Notice>
        <Code title="YAML" text={objects.map(toYaml).join('---\n')} />
      </section>
    </div>
  )
}

/** Returns the messages of a refusal by field, and whether some are about no field. */
function refusals(
  failure: unknown,
  kind: 'provider' | 'trust',
  draft: Draft,
): { problems: Problems; isPartial: boolean } {
  const status = failure instanceof ApiError ? failure.status : {}
  const taken = { field: 'metadata.name', message: 'This name is taken.' }
  const causes = status.reason === 'AlreadyExists' ? [taken] : (status.details?.causes ?? [])
  const found = causes.map(({ field = '', message = '' }) => [fieldOf(field, kind, draft), message] as const)
  return {
    problems: Object.fromEntries(found.filter(([field]) => field !== undefined)),
    isPartial: found.length === 0 || found.some(([field]) => field === undefined),
  }
}
