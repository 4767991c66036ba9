(()=>{try{let e=localStorage.getItem("nexus-theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e)}catch{}})();
