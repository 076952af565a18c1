for(const table of document.querySelectorAll("table.sortable"))table.querySelectorAll("thead th").forEach((head,column)=>{
const button=document.createElement("button");button.type="button";button.append(...head.childNodes);head.append(button);
button.addEventListener("click",()=>{const body=table.tBodies[0],down=head.getAttribute("aria-sort")!=="descending";
const key=row=>{const cell=row.cells[column];return cell.dataset.v===undefined?cell.textContent:Number(cell.dataset.v)};
const rows=[...body.rows].map(row=>[key(row),row]);rows.sort(([a],[b])=>(a<b?-1:a>b?1:0)*(down?-1:1));
table.querySelectorAll("thead th").forEach(it=>it.removeAttribute("aria-sort"));head.setAttribute("aria-sort",down?"descending":"ascending");
body.append(...rows.map(it=>it[1]))})});
// Browsers that cannot style what a closed part holds print it if it is open.
const shut=[];
addEventListener("beforeprint",()=>{for(const it of document.querySelectorAll("details:not([open])")){it.open=true;shut.push(it)}});
addEventListener("afterprint",()=>{for(const it of shut.splice(0))it.open=false});
// A table that is wider than the window scrolls; who has no mouse scrolls it too.
const wide=new ResizeObserver(seen=>{for(const {target:it} of seen){if(it.scrollWidth>it.clientWidth){it.tabIndex=0;it.setAttribute("role","group");it.setAttribute("aria-label",it.querySelector("caption").textContent)}
else for(const name of ["tabindex","role","aria-label"])it.removeAttribute(name)}});
for(const it of document.querySelectorAll(".scroll"))wide.observe(it);
