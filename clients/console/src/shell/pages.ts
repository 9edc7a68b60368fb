/** The pages of the console. */
import type { ComponentType } from 'preact'
import { KeysPage } from '../pages/keys/keyspage.tsx'
import { TrustRoute } from '../pages/trusts/trustroute.tsx'
import { TrustsPage } from '../pages/trusts/trustspage.tsx'
import type { Route } from '../text/routes.ts'

export interface PageEntry {
  /** First part of its address. */
  page: string
  /** How many parts follow, such as the name of an object. */
  parts: number
  /** The title of the window. Names of objects are not part of it: they are texts of others. */
  title: string
  /** Its link in the header. */
  nav?: string
  component: ComponentType<{ route: Route }>
}

export const pages: readonly PageEntry[] = [
  { page: 'keys', parts: 0, title: 'Keys', nav: 'Keys', component: KeysPage },
  { page: 'trusts', parts: 0, title: 'Trusts', nav: 'Trusts', component: TrustsPage },
  { page: 'trusts', parts: 1, title: 'Trusts', component: TrustRoute },
  { page: 'trusts', parts: 2, title: 'Trusts', component: TrustRoute },
]

/** Returns the page of a route, or undefined if there is none. */
export const pageOf = ({ page, parts }: Route): PageEntry | undefined =>
  pages.find((one) => one.page === page && one.parts === parts.length)
