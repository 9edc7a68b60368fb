import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Provider, Trust } from '../../api/trusts.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { DialogPart, part, usePreload } from '../../components/part.tsx'
import { useQuery } from '../../session/usequery.ts'
import { visible } from '../../text/visible.ts'
import type { ActionName, DialogProps } from './actiondialog.tsx'

const dialog = part(async () => (await import('./actiondialog.tsx')).ActionDialog)

export interface ObjectPageProps<T> extends Pick<DialogProps, 'path' | 'noun' | 'loss'> {
  name: string
  /** The name of the list that shows it, in the cache of the session. */
  list: string
  /** Links beside the buttons. */
  links?: ComponentChildren
  children(object: T): ComponentChildren
}

/** Reads one trust or provider, and shows its page: title, what can be done with it, and what the children make of it. */
export function ObjectPage<T extends Trust | Provider>({ children, list, links, ...props }: ObjectPageProps<T>) {
  const { name, path, noun } = props
  const data = `${noun} ${name}`
  const query = useQuery(data, ({ api }, signal) => api.send<T>(path, { signal }))
  const [open, setOpen] = useState<{ action: ActionName; seen: T }>()
  usePreload(dialog)
  const object = query.data
  const choose = (action: ActionName) => () => object && setOpen({ action, seen: object })
  return (
    <Page
      title={visible(name)}
      about={object?.spec.displayName && <Foreign text={object.spec.displayName} />}
      actions={
        object &&
        !object.metadata.deletionTimestamp && (
          <>
            {links}
            <button type="button" onClick={choose('disable')}>
              {object.spec.disabled ? 'Enable' : 'Disable'}
            </button>
            <button type="button" class="caution" onClick={choose('delete')}>
              Delete
            </button>
          </>
        )
      }
    >
      <Fresh query={query}>{children}</Fresh>
      {open && (
        <DialogPart
          {...props}
          dialog={dialog}
          action={open.action}
          object={open.seen}
          shownIn={[list, data]}
          refresh={query.refresh}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  )
}
