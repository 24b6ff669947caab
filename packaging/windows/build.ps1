# Builds dist\swag-studio on Windows, and an installer with Inno Setup 6.
#
# Written without a Windows machine: never run. What is likely to need a look: the names of the Qt
# plug-ins in packaging\leave_out.py, which are those of Linux, and a signature of the programs.
#   py -3.11 -m venv .venv-package
#   .venv-package\Scripts\python -m pip install -c constraints.txt ".[package]"
#   powershell -File packaging\windows\build.ps1 [-WithoutInstaller]
param([switch]$WithoutInstaller)
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
$python = Resolve-Path ".venv-package\Scripts\python.exe"

# Inno Setup's own installer does not put it on the PATH. Its absence is told before the build.
$places = @(Get-Command iscc -ErrorAction SilentlyContinue | ForEach-Object Source)
foreach ($root in ${env:ProgramFiles(x86)}, $env:ProgramFiles, "$env:LOCALAPPDATA\Programs") {
    if ($root) { $places += Join-Path $root "Inno Setup 6\ISCC.exe" }
}
$iscc = $places | Where-Object { Test-Path $_ } | Select-Object -First 1
if (-not $iscc -and -not $WithoutInstaller) {
    throw "Inno Setup 6 was not found. Install it, or give -WithoutInstaller for the folder alone."
}

foreach ($stale in "build\stage", "build\lib", "dist\swag-studio") {  # build\lib is packed too
    if (Test-Path $stale) { Remove-Item -Recurse -Force $stale }
}
& $python -m pip install --quiet --no-index --no-deps --no-build-isolation --target build\stage .
if ($LASTEXITCODE) { exit $LASTEXITCODE }
$env:PYTHONPATH = Join-Path (Get-Location) "build\stage"
& $python -P -m PyInstaller --noconfirm --log-level WARN `
    --workpath build\pyinstaller --distpath dist packaging\swag-studio.spec
if ($LASTEXITCODE) { exit $LASTEXITCODE }

if ($WithoutInstaller) {
    Write-Host "dist\swag-studio is made. No installer was made, as asked."
    exit 0
}
$version = & $python -P -c "import swag_studio; print(swag_studio.__version__)"
if ($LASTEXITCODE) { exit $LASTEXITCODE }
& $iscc "/DVersion=$version" packaging\windows\swag-studio.iss
exit $LASTEXITCODE
