import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { prefixOf } from '../../../../core/src/projects.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { useServerSearch } from '../../components/hooks/useserversearch.ts'
import { useTrusts } from '../../components/hooks/usetrusts.ts'
import { Notice } from '../../components/notice.tsx'
import { useClusters } from '../../components/scope/useclusters.ts'
import { merged } from '../../keylist/searched.ts'
import { useSession } from '../../session/session.ts'
import { isLikeValue } from '../../text/keyvalue.ts'
import { hrefOf } from '../../text/routes.ts'
import { type Choice, choicesFor, othersOf, type Pages } from './choices.ts'

export interface PaletteProps {
  pages: Pages
  onClose(): void
}

/** Returns the buttons and links beside the title of the page, which is behind the palette. */
const pageActions = (): Choice[] =>
  Array.from(
    document.querySelectorAll<HTMLElement>('header.page .actions :is(button:not([popovertarget]), a)'),
    (one) => ({
      id: `own ${one.textContent}`,
      title: one.textContent,
      kind: 'Action',
      act: () => one.click(),
    }),
  )

/**
 * A field whose list of choices leads to objects, pages and actions. What is typed is kept nowhere. The server is asked for the beginning of a
 * name if there are keys that were not read.
 */
export function Palette({ pages, onClose }: PaletteProps) {
  const { self, signOut } = useSession()
  const { data } = useKeys()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [isRefused, setRefused] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const [own] = useState(pageActions)
  const trusts = useTrusts().data?.items
  const clusters = useClusters().data
  const unread = useServerSearch(data?.more ? text.trim() : '', 0)?.answer?.keys
  const keys = useMemo(() => merged(data?.items ?? [], unread ?? []), [data, unread])
  const others = useMemo(
    () => othersOf(trusts ?? [], clusters ?? { virtualClusters: new Map(), connected: [] }, prefixOf(self)),
    [trusts, clusters, self],
  )
  const choices = choicesFor(text, { own, pages, keys, others })
  const active = Math.min(at, choices.length - 1)
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active, text])

  const type = (input: HTMLInputElement) => {
    const isValue = isLikeValue(input.value)
    if (isValue) input.value = ''
    setRefused(isValue)
    setText(input.value)
    setAt(0)
  }
  const choose = ({ href, act = signOut }: Choice) => {
    onClose()
    if (href === undefined) act()
    else location.hash = href
  }
  const move = (event: KeyboardEvent) => {
    const chosen = choices[active]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter' && chosen && !event.isComposing) choose(chosen)
    else if (step) setAt((active + step + choices.length) % Math.max(1, choices.length))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Name of a key, trust, cluster, page or action"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(choices.length > 0 && { 'aria-activedescendant': `${id}-${active}` })}
        placeholder="Key, trust, cluster, page or action"
        maxLength={4096}
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        value={text}
        onInput={(event) => type(event.currentTarget)}
        onKeyDown={move}
      />
      {isRefused && (
        <Notice tone="bad" title="This looks like the value of a key.">
          <p>
            It was cleared. Nothing was sent or kept. Type the name of the key, or ask{' '}
            <a href={hrefOf('whose')} onClick={onClose}>
              whose key it is
            </a>
            .
          </p>
        </Notice>
      )}
      <div class="choices" role="listbox" id={`${id}-list`} aria-label="Choices" ref={list}>
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus.
          // biome-ignore lint/a11y/useFocusableInteractive: the field names the active choice.
          <div
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === active}
            key={choice.id}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(choice)}
          >
            <Foreign text={choice.title} />
            <span class="muted">{choice.kind}</span>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {choices.length === 0
          ? 'Nothing matches.'
          : data?.more
            ? `Beyond the first ${data.items.length} keys, only the beginning of a name is searched.`
            : ''}
      </p>
    </Dialog>
  )
}
