import type { RefObject } from 'preact'
import type { AccessKey, AccessReview, ReviewStep, Scope } from '../../../../core/src/objects.ts'
import { Badge } from '../../components/badge.tsx'
import { Code } from '../../components/code.tsx'
import { Copy } from '../../components/copy.tsx'
import { Foreign, Paragraph } from '../../components/foreign.tsx'
import { type Json, toYaml } from '../../text/yaml.ts'
import { ScopeButton } from '../key/actions/scopebutton.tsx'
import { type Question, requestWords } from './question.ts'
import { allowingEntry, isInherited, joined, verdictOf, wordsOf } from './steps.ts'

export interface Given {
  question: Question
  /** The reviewed key. */
  reviewed: AccessKey
  review: AccessReview
}

/** The answer to a question, with every step of the decision. */
export function Answer({
  question,
  reviewed,
  review,
  heading,
  refresh,
}: Given & { heading: RefObject<HTMLHeadingElement | null>; refresh(): Promise<void> }) {
  const { allowed, steps = [] } = review
  return (
    <article class="card stack answer">
      <h2 ref={heading} tabIndex={-1}>
        <Badge tone={allowed ? 'good' : 'bad'} text={allowed ? 'Allowed' : 'Not allowed'} />{' '}
        <Foreign text={question.key} />: <Foreign text={requestWords(question)} />
      </h2>
      {steps.length === 0 && review.reason && <Paragraph text={review.reason} />}
      <ol class="stack">
        {steps.map((step) => (
          <Step step={step} reviewed={reviewed} refresh={refresh} key={step.check} />
        ))}
      </ol>
      {question.place !== '' && (
        <p>
          <strong>The cluster has the last word.</strong> This says whether the scope of the key denies the request
          there. The cluster's own RBAC must allow it as well.
        </p>
      )}
      {question.place === '' && allowed && (
        <p class="muted">
          The check does not see the body of a request: a change that would widen a key is refused nevertheless.
        </p>
      )}
      <p>
        <Copy text={location.href} label="Copy the address of this answer" />
      </p>
    </article>
  )
}

interface StepProps {
  step: ReviewStep
  reviewed: AccessKey
  /** Asks again. */
  refresh(): Promise<void>
}

function Step({ step, reviewed, refresh }: StepProps) {
  const { title, asks } = wordsOf(step)
  const { tone, text } = verdictOf(step)
  const allowing = allowingEntry(step, reviewed)
  return (
    <li class="stack">
      <h3>
        {title} <Badge tone={tone} text={text} />
      </h3>
      <p class="hint">{asks}</p>
      {step.reason && <Paragraph text={step.reason} />}
      {allowing && <Code title="This entry of the key's scope allows it" text={toYaml(allowing as Json)} />}
      {step.entry && <Missing entry={step.entry} step={step} reviewed={reviewed} refresh={refresh} />}
    </li>
  )
}

/** Shows the scope entry that would allow the request, and how to add it. */
function Missing({ entry, step, reviewed, refresh }: StepProps & { entry: NonNullable<ReviewStep['entry']> }) {
  return (
    <>
      <Code title="This entry of spec.scope would allow it" text={toYaml(entry as Json)} />
      {isInherited(step) ? (
        <p>Make a new key with this entry instead, with a key whose own scope has it.</p>
      ) : (
        <>
          <ScopeButton
            word="Add it"
            accessKey={reviewed}
            suggested={{
              scope: joined(reviewed.spec.scope ?? {}, entry as Scope),
              about: 'The entry that allows the request is with the others of the scope.',
            }}
            refresh={refresh}
          />
          <p>Its owner or an administrator may add it, with another key: no key can widen its own scope.</p>
        </>
      )}
    </>
  )
}
