import { render } from 'preact'
import { App } from './shell/app.tsx'
import { keepFocus } from './shell/keepfocus.ts'
import { takeReturned } from './shell/returned.ts'

// The code in the address goes before anything else looks at it.
const returned = takeReturned()
const place = document.getElementById('console')
if (place) {
  render(<App returned={returned} />, place)
  keepFocus(place)
}
