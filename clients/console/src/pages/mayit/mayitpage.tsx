import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiResource } from '../../../../../lib/access/attributes/resourcetext.ts'
import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { AccessKey, AccessReview } from '../../../../core/src/objects.ts'
import type { Api } from '../../api/client.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import { ErrorNotice } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { hrefOf, type Route } from '../../text/routes.ts'
import { Answer, type Given } from './answer.tsx'
import { isAsked, type Problems, type Question, queryOf, questionOf, secretsOf, specOf } from './question.ts'
import { QuestionForm } from './questionform.tsx'

/** The names of keys and resources change rarely, in milliseconds. */
const SELDOM_MS = 5 * MINUTE_MS

interface State {
  /** The query that the state belongs to. */
  query: string
  given?: Given
  problems?: Problems
  error?: unknown
}

/** Asks the server whether a request with a key would be allowed. The question is the address of the page. */
export function MayItPage({ route }: { route: Route }) {
  const { api, self } = useSession()
  const known = useQuery('may-it', ({ api }, signal) => readNames(api, signal), SELDOM_MS)
  const [state, setState] = useState<State>({ query: '' })
  const [attempt, again] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  const isOwnQuestion = useRef(false)
  const query = route.query.toString()
  const question = questionOf(route.query, self.accessKey)
  const resources = useRef<ApiResource[]>([])
  if (known.data) resources.current = known.data.resources
  const isReady = known.data !== undefined

  useEffect(() => {
    const question = questionOf(new URLSearchParams(query), self.accessKey)
    if (!isAsked(question) || !isReady) return
    const made = specOf(question, resources.current)
    if ('problems' in made) return setState({ query, problems: made.problems })
    const own = new AbortController()
    setState({ query })
    ask(api, question, made.spec, own.signal).then(
      (given) => setState({ query, given }),
      (error) => !own.signal.aborted && setState({ query, error }),
    )
    return () => own.abort()
  }, [query, isReady, api, self, attempt])

  const { given, problems, error }: State = state.query === query ? state : { query }
  useEffect(() => {
    if (!given || !isOwnQuestion.current) return
    isOwnQuestion.current = false
    heading.current?.focus()
  }, [given])

  const submit = (asked: Question) => {
    const secrets = secretsOf(asked)
    if (Object.keys(secrets).length > 0) return setState({ query, problems: secrets })
    const address = hrefOf('may-it', [], queryOf(asked))
    isOwnQuestion.current = true
    if (address === location.hash) again((count) => count + 1)
    else location.hash = address
  }
  const hint = error instanceof ApiError && HINTS[error.code]
  const isBusy = isAsked(question) && !given && !problems && !error && (isReady || !known.error)
  return (
    <Page title="Access check" about="Find out whether a key allows a request, with every step of the decision.">
      <div class="halves mayit">
        <QuestionForm
          question={question}
          query={query}
          keys={known.data?.keys ?? []}
          resources={resources.current}
          problems={problems ?? {}}
          onAsk={submit}
        />
        <div class="stack" aria-live="polite">
          {known.error !== undefined && !isReady && <ErrorNotice error={known.error} />}
          {isBusy && <p class="loading">Asking…</p>}
          {error !== undefined && <ErrorNotice error={error}>{hint && <p>{hint}</p>}</ErrorNotice>}
          {given && <Answer {...given} heading={heading} refresh={async () => again((count) => count + 1)} />}
          {!isAsked(question) && <p class="muted">Such as: list pods in the namespace default of a virtual cluster.</p>}
        </div>
      </div>
    </Page>
  )
}

/** Reads the resources of the API, and the keys that the person may ask about. A key with a scope may not list keys. */
async function readNames(api: Api, signal: AbortSignal): Promise<{ resources: ApiResource[]; keys: string[] }> {
  const mayNot = (error: unknown) => {
    if (error instanceof ApiError && error.code === 403) return { items: [] }
    throw error
  }
  const [{ resources }, { items }] = await Promise.all([
    api.send<{ resources: ApiResource[] }>(paths.discovery, { signal }),
    listAll<AccessKey>(api, paths.keys, signal).catch(mayNot),
  ])
  return { resources, keys: items.map(({ metadata }) => metadata.name) }
}

async function ask(api: Api, question: Question, spec: object, signal: AbortSignal): Promise<Given> {
  const [review, reviewed] = await Promise.all([
    api.send<{ status: AccessReview }>(paths.accessReview(question.key), { method: 'POST', body: { spec }, signal }),
    api.send<AccessKey>(paths.key(question.key), { signal }),
  ])
  return { question, reviewed, review: review.status }
}

const HINTS: Readonly<Record<number, string>> = {
  403: 'A key with a scope may ask about itself, and about keys that carry all of its scopes, if the scope allows reading them.',
  404: 'You may ask about keys that you can see. For other keys, the answer is as if they did not exist.',
}
