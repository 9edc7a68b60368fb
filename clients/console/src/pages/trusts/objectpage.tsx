import type { ComponentChildren } from 'preact'
import type { Provider, Trust } from '../../api/trusts.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { usePolled } from '../../session/usepolled.ts'
import { visible } from '../../text/visible.ts'
import { Actions } from './actions.tsx'

export interface ObjectPageProps<T> {
  name: string
  path: string
  /** What it is, such as `trust`. */
  noun: string
  /** What deleting it means, beyond its keys. */
  loss: string
  /** The name of the list that shows it, in the cache of the session. */
  list: string
  /** Links beside the buttons. */
  links?: ComponentChildren
  children(object: T): ComponentChildren
}

/** Reads one trust or provider, and shows its page: title, actions and what the children make of it. */
export function ObjectPage<T extends Trust | Provider>({ children, list, links, ...props }: ObjectPageProps<T>) {
  const { name, path, noun } = props
  const data = `${noun} ${name}`
  const polled = usePolled(data, ({ api }, signal) => api.send<T>(path, { signal }))
  const object = polled.data
  return (
    <Page
      title={visible(name)}
      about={object?.spec.displayName && <Foreign text={object.spec.displayName} />}
      actions={
        object && (
          <>
            {links}
            <Actions {...props} object={object} shownIn={[list, data]} refresh={polled.refresh} />
          </>
        )
      }
    >
      <Fresh polled={polled}>{children}</Fresh>
    </Page>
  )
}
