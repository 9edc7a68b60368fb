import type { ComponentChildren } from 'preact'

export type StepState = 'done' | 'now' | 'later'

const WORDS = { done: 'Done', now: 'Now', later: 'Later' } as const

export const RotationStep = ({
  title,
  state,
  children,
}: {
  title: string
  state: StepState
  children: ComponentChildren
}) => (
  <li class={`step ${state}`} aria-current={state === 'now' ? 'step' : undefined}>
    <h3>
      {title} <span class="hidden">({WORDS[state]})</span>
    </h3>
    {children}
  </li>
)
