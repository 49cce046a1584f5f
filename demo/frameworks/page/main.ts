/** The page of the frameworks: it loads the screens in the one that its address names. React is the first. */
const links = [...document.querySelectorAll<HTMLAnchorElement>('#frameworks a')]
const shown = links.find(({ search }) => search === location.search) ?? links[0]!
shown.setAttribute('aria-current', 'page')
document.title = `${shown.textContent} with Pannier`
await import(`/_app/frameworks/${shown.search.slice(1)}.js`)
