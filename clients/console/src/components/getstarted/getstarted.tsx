import { useEffect, useState } from 'preact/hooks'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { apiRoot } from '../../api/root.ts'
import { useNotify } from '../../session/notices.ts'
import { useSession } from '../../session/session.ts'
import { settingsOfPage } from '../../session/usesession.ts'
import { DocumentationLink } from '../documentationlink.tsx'
import { useNow } from '../hooks/usenow.ts'
import { type Facts, readFacts } from './readfacts.ts'
import { dismiss } from './remembered.ts'
import { type Step, steps } from './steps.ts'

const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(apiRoot.hostname)

/** Shows what is left of what a person does first with a new deployment, until all of it is done or the person dismisses it. */
export function GetStarted({ keys }: { keys: readonly AccessKey[] }) {
  const { api, self, ends } = useSession()
  const notify = useNotify()
  const now = useNow()
  const [facts, setFacts] = useState<Facts>()
  const [isDismissed, setDismissed] = useState(false)
  useEffect(() => {
    const ended = new AbortController()
    readFacts(api, self, isLocal, ended.signal).then((read) => !ended.signal.aborted && setFacts(read))
    return () => ended.abort()
  }, [api, self])
  const hasSignIn = settingsOfPage() !== undefined
  const state = { ...facts, self, keys, now, isFederated: ends !== undefined, hasSignIn, isLocal }
  const shown = facts ? steps.filter((step) => step.isAllowed(state)) : []
  const open = shown.filter((step) => !step.isDone(state))
  const isDone = shown.length > 0 && open.length === 0
  useEffect(() => {
    if (isDone) dismiss()
  }, [isDone])
  if (shown.length === 0 || isDismissed || isDone) return null
  const close = () => {
    dismiss()
    setDismissed(true)
    notify({ tone: 'good', text: 'Get started is in the help menu from now on.' })
  }
  return (
    <section class="card" aria-labelledby="get-started">
      <header class="page">
        <h2 id="get-started">
          Get started: {shown.length - open.length} of {shown.length} done
        </h2>
        <button type="button" class="quiet" onClick={close}>
          Dismiss
        </button>
      </header>
      <ol>
        {open.map((step) => (
          <li key={step.title}>
            <OpenStep step={step} isNext={step === open[0]} />
          </li>
        ))}
      </ol>
    </section>
  )
}

const OpenStep = ({ step: { title, text, link, docs }, isNext }: { step: Step; isNext: boolean }) => (
  <details open={isNext}>
    <summary>{title}</summary>
    <p>
      {text}{' '}
      <span class="muted">
        See <DocumentationLink page={docs} />.
      </span>
    </p>
    {link && (
      <a class="button" href={link.href}>
        {link.text}
      </a>
    )}
  </details>
)
